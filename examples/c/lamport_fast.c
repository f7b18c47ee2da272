// raddle: --model sc --engine explicit --no race expect: holds
// raddle: --model tso --engine explicit --no race expect: holds
// raddle: --model tso --engine explicit --no race -D BROKEN expect: violated(assert)
// raddle: --model sc --engine explicit --no race -D BROKEN expect: holds
//
// Lamport's fast mutual exclusion for two threads: who meets nobody needs seven accesses. Broken: announcements that
// are still in the store buffer when the thread looks for those of others.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 2
#ifdef BROKEN
#define ANNOUNCE memory_order_release
#else
#define ANNOUNCE memory_order_seq_cst
#endif

static atomic_int wants[N + 1];
static atomic_int first, door;
static atomic_int inside;

static void lock(int me)
{
    for (;;) {
        atomic_store_explicit(&wants[me], 1, ANNOUNCE);
        atomic_store_explicit(&first, me, ANNOUNCE);
        if (atomic_load(&door) != 0) {
            atomic_store_explicit(&wants[me], 0, ANNOUNCE);
            while (atomic_load(&door) != 0)
                ;
            continue;
        }
        atomic_store_explicit(&door, me, ANNOUNCE);
        if (atomic_load(&first) == me)
            return;
        atomic_store_explicit(&wants[me], 0, ANNOUNCE);
        for (int other = 1; other <= N; other++)
            while (atomic_load(&wants[other]))
                ;
        if (atomic_load(&door) == me)
            return;
        while (atomic_load(&door) != 0)
            ;
    }
}

static void unlock(int me)
{
    atomic_store_explicit(&door, 0, memory_order_release);
    atomic_store_explicit(&wants[me], 0, memory_order_release);
}

static void *worker(void *argument)
{
    int me = (int)(long)argument;
    lock(me);
    atomic_store_explicit(&inside, me, memory_order_relaxed);
    assert(atomic_load_explicit(&inside, memory_order_relaxed) == me);
    unlock(me);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
