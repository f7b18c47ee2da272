// raddle: --engine optimal -D N=2 expect: holds classes: 4 blocked: 0
// raddle: --engine optimal -D N=3 expect: holds classes: 36 blocked: 0
// raddle: --engine optimal -D N=4 expect: holds classes: 576 blocked: 0
// raddle: --engine optimal -D N=2 -D ROUNDS=2 expect: holds classes: 34 blocked: 0
// raddle: --engine optimal -D N=2 -D ROUNDS=3 expect: holds classes: 328 blocked: 0
// raddle: --engine optimal --model tso -D N=3 expect: holds classes: 36 blocked: 0
// raddle: --engine optimal --model pso -D N=3 expect: holds classes: 36 blocked: 0
// raddle: --engine rf -D N=3 expect: holds classes: 36 blocked: 0
// raddle: -D N=2 -D BROKEN expect: violated(deadlock)
//
// A lock that is looked at before it is taken by a compare-exchange, both in functions of their own. A turn that finds the lock
// held, or loses it in between, changes nothing and is no execution of its own. What is left of a thread that is the
// k-th to take the lock: which of the k times that the lock was free before it has seen. So N threads have N! N! classes.
// Broken: nobody unlocks.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

static atomic_int held;
static int counter;

static int look(atomic_int *at)
{
    return atomic_load(at);
}

static int compare_exchange(atomic_int *at, int expected, int desired)
{
    return atomic_compare_exchange_strong(at, &expected, desired);
}

static void lock(void)
{
    while (look(&held) != 0 || !compare_exchange(&held, 0, 1))
        ;
}

static void unlock(void)
{
#ifndef BROKEN
    atomic_store(&held, 0);
#endif
}

static void *worker(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock();
        counter++;
        unlock();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N * ROUNDS);
    return 0;
}
