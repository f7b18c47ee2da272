// raddle: --model sc --loop-bound 2 expect: holds
// raddle: --model tso --loop-bound 2 expect: holds
// raddle: --model tso --loop-bound 2 -D BROKEN expect: violated(race)
// raddle: --model pso --loop-bound 2 -D BROKEN expect: violated(race)
//
// Dekker's algorithm for two threads, once each. Broken: relaxed stores, which buffers delay.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifdef BROKEN
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_seq_cst
#endif

static atomic_bool wants[2];
static atomic_int turn;
static int shared;

static void lock(int me)
{
    int other = 1 - me;
    atomic_store_explicit(&wants[me], true, ORDER);
    while (atomic_load(&wants[other])) {
        if (atomic_load(&turn) != me) {
            atomic_store_explicit(&wants[me], false, ORDER);
            while (atomic_load(&turn) != me)
                ;
            atomic_store_explicit(&wants[me], true, ORDER);
        }
    }
}

static void unlock(int me)
{
    atomic_store_explicit(&turn, 1 - me, memory_order_release);
    atomic_store_explicit(&wants[me], false, memory_order_release);
}

static void *worker(void *argument)
{
    int me = (int)(long)argument;
    lock(me);
    shared = shared + 1;
    unlock(me);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)0L);
    pthread_create(&b, NULL, worker, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(shared == 2);
    return 0;
}
