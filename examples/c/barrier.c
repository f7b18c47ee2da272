// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN --no race expect: violated(assert)
//
// Two phases with a POSIX barrier in between: each thread writes its own cell and then reads its neighbour's. Broken:
// without the barrier the phases overlap.
#include <assert.h>
#include <pthread.h>

#define N 2

static pthread_barrier_t barrier;
static int cells[N];
static int serial[N];

static void *worker(void *argument)
{
    long me = (long)argument;
    cells[me] = (int)me + 1;
#ifndef BROKEN
    serial[me] = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
#endif
    int neighbour = cells[(me + 1) % N];
    assert(neighbour == (int)((me + 1) % N) + 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    pthread_barrier_init(&barrier, NULL, N);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    int last = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        last += serial[i];
    }
#ifndef BROKEN
    assert(last == 1);
#endif
    pthread_barrier_destroy(&barrier);
    return 0;
}
