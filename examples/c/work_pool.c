// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// Workers draw tasks from a common list until it is empty. Every task is done once. Broken: drawing is a read and a
// write.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define TASKS 3
#define WORKERS 2

static atomic_int next;
static atomic_int done[TASKS];

static int draw(void)
{
#ifdef BROKEN
    int task = next;
    next = task + 1;
    return task;
#else
    return next++;
#endif
}

static void *worker(void *unused)
{
    for (int task = draw(); task < TASKS; task = draw())
        done[task] += 1;
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TASKS; i++)
        assert(done[i] == 1);
    return 0;
}
