// raddle: -D SHAPE=0 expect: holds classes: 6
// raddle: -D SHAPE=1 expect: holds classes: 6
// raddle: -D SHAPE=2 expect: holds classes: 6
// raddle: -D SHAPE=3 expect: holds classes: 6
// raddle: -D SHAPE=4 expect: holds classes: 6
// raddle: -D SHAPE=5 expect: holds classes: 6
// raddle: -D SHAPE=6 expect: holds classes: 6
// raddle: -D SHAPE=7 expect: holds classes: 36
// raddle: -D SHAPE=8 expect: holds classes: 36
// raddle: -D SHAPE=9 expect: holds classes: 36
// raddle: -D SHAPE=10 expect: holds classes: 36
// raddle: -D SHAPE=0 --32 expect: holds classes: 6
// raddle: -D SHAPE=8 --32 expect: holds classes: 36
// raddle: -D SHAPE=0 --model tso expect: holds classes: 6
// raddle: -D SHAPE=8 --model pso expect: holds classes: 36
// raddle: -D SHAPE=0 -D BROKEN expect: violated(deadlock)
// raddle: -D SHAPE=6 -D BROKEN expect: violated(deadlock)
// raddle: -D SHAPE=8 -D BROKEN expect: violated(deadlock)
// raddle: -D SHAPE=10 -D BROKEN expect: violated(deadlock)
//
// One lock behind a pointer, taken in all the ways people write: each is a wait, so that three threads have 3! orders (or a
// few more, where a look at the lock comes first). Broken: nobody unlocks.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
    atomic_int flag;
} lock_t;

static lock_t the_lock;
static int counter;

static inline bool try_exchange(lock_t *l)
{
    return atomic_exchange_explicit(&l->flag, 1, memory_order_acquire) == 0;
}

static inline bool try_compare(lock_t *l)
{
    int expected = 0;
    return atomic_compare_exchange_strong(&l->flag, &expected, 1);
}

static void lock(lock_t *l)
{
#if SHAPE == 0
    while (atomic_exchange(&l->flag, 1))
        ;
#elif SHAPE == 1
    int expected = 0;
    while (!atomic_compare_exchange_strong(&l->flag, &expected, 1))
        expected = 0;
#elif SHAPE == 2
    int expected;
    do {
        expected = 0;
    } while (!atomic_compare_exchange_weak_explicit(&l->flag, &expected, 1, memory_order_acquire,
                                                    memory_order_relaxed));
#elif SHAPE == 3
    while (__sync_lock_test_and_set((int *)&l->flag, 1))
        sched_yield();
#elif SHAPE == 4
    while (atomic_fetch_or(&l->flag, 1) & 1)
        ;
#elif SHAPE == 5
    while (!try_exchange(l))
        sched_yield();
#elif SHAPE == 6
    while (!try_compare(l))
        sched_yield();
#elif SHAPE == 7
    for (;;) {
        while (atomic_load(&l->flag))
            sched_yield();
        if (!atomic_exchange(&l->flag, 1))
            return;
    }
#elif SHAPE == 8
    do {
        while (atomic_load_explicit(&l->flag, memory_order_relaxed))
            ;
    } while (atomic_exchange_explicit(&l->flag, 1, memory_order_acquire));
#elif SHAPE == 9
    while (true)
        if (!atomic_load(&l->flag) && !atomic_exchange(&l->flag, 1))
            break;
#else
    for (;;) {
        while (atomic_load(&l->flag))
            ;
        if (try_compare(l))
            return;
    }
#endif
}

static void unlock(lock_t *l)
{
#ifndef BROKEN
    atomic_store_explicit(&l->flag, 0, memory_order_release);
#endif
    (void)l, (void)try_exchange, (void)try_compare;
}

static void *worker(void *l)
{
    lock(l);
    counter++;
    unlock(l);
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, worker, &the_lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(counter == 3);
    return 0;
}
