// raddle: --model sc -D N=2 expect: holds
// raddle: --model tso -D N=2 expect: holds
// raddle: --model pso -D N=2 expect: holds
// raddle: --model sc -D N=2 -D BROKEN expect: violated(race)
//
// Test and test-and-set: look until the lock seems free, then try to take it. Broken: what the exchange found is not
// looked at.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef N
#define N 2
#endif

static atomic_bool taken;
static int counter;

static void lock(void)
{
    for (;;) {
        while (atomic_load_explicit(&taken, memory_order_relaxed))
            ;
        bool was = atomic_exchange_explicit(&taken, true, memory_order_acquire);
#ifdef BROKEN
        (void)was;
        return;
#else
        if (!was)
            return;
#endif
    }
}

static void *worker(void *unused)
{
    lock();
    counter++;
    atomic_store_explicit(&taken, false, memory_order_release);
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
