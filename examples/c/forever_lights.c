// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// Two controllers switch the lights of a crossing by any input, for ever. Never are both green.
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

enum { RED, GREEN };
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int north, east;

void *controller(void *arg)
{
    int *mine = arg, *other = arg == &north ? &east : &north;
    for (;;) {
        pthread_mutex_lock(&lock);
        if (__VERIFIER_nondet_bool())
            *mine = RED;
#ifdef WRONG
        else
#else
        else if (*other == RED)
#endif
            *mine = GREEN;
        assert(north == RED || east == RED);
        pthread_mutex_unlock(&lock);
    }
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, controller, &north);
    controller(&east);
}
