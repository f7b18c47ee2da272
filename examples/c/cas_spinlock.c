// raddle: --model sc -D N=2 --engine optimal expect: holds classes: 2
// raddle: --model sc -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model sc -D N=4 --engine optimal expect: holds classes: 24
// raddle: --model tso -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model pso -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model sc -D N=2 -D BROKEN expect: violated(race)
//
// A spin lock taken by compare-exchange: N threads enter in any order, N! classes. Broken: the lock is looked at and
// taken in two steps.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int lock;
static int counter;

static void acquire(void)
{
#ifdef BROKEN
    while (atomic_load(&lock) != 0)
        ;
    atomic_store(&lock, 1);
#else
    int expected = 0;
    while (!atomic_compare_exchange_strong(&lock, &expected, 1))
        expected = 0;
#endif
}

static void release(void)
{
    atomic_store_explicit(&lock, 0, memory_order_release);
}

static void *worker(void *unused)
{
    acquire();
    counter++;
    release();
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
