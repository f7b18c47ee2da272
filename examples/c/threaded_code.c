// raddle: expect: holds classes: 2
// raddle: -D BROKEN expect: violated(race)
// raddle: -D WILD expect: violated(memory)
//
// Two threads interpret a small program each, in which every instruction goes on to the next by a computed goto. They share a cell; broken, one of
// them uses it without the lock. Wild, an instruction number is none.
#include <assert.h>
#include <pthread.h>

enum { LOCK, ADD, UNLOCK, LOOP, HALT };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int cell;

static int run(const unsigned char *code, int turns)
{
    static void *const labels[] = {&&lock, &&add, &&unlock, &&loop, &&halt, 0};
    const unsigned char *at = code;
    int steps = 0;
#define NEXT do { steps++; goto *labels[*at++]; } while (0)
    NEXT;
lock:
    pthread_mutex_lock(&mutex);
    NEXT;
add:
    cell += *at++;
    NEXT;
unlock:
    pthread_mutex_unlock(&mutex);
    NEXT;
loop:
    if (--turns > 0)
        at = code + 1;
    NEXT;
halt:
    return steps;
}

static void *worker(void *unused)
{
#ifdef BROKEN
    static const unsigned char code[] = {ADD, 5, HALT};
    assert(run(code, 1) == 2);
#else
    static const unsigned char code[] = {LOCK, ADD, 5, LOOP, UNLOCK, HALT};
    assert(run(code, 1) == 5);
#endif
    return unused;
}

int main(void)
{
    static const unsigned char code[] = {LOCK, ADD, 1, LOOP, UNLOCK, HALT
#ifdef WILD
        + 1
#endif
    };
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    assert(run(code, 3) == 9);
    pthread_join(t, 0);
    assert(cell == 8);
    return 0;
}
