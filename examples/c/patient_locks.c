// raddle: -D HOW=0 expect: holds classes: 2
// raddle: -D HOW=1 expect: holds
// raddle: -D HOW=2 expect: holds classes: 2
// raddle: -D HOW=3 expect: holds classes: 2
// raddle: -D HOW=4 expect: holds classes: 2
// raddle: -D HOW=5 expect: holds
// raddle: -D HOW=6 expect: holds classes: 2
// raddle: -D HOW=7 expect: holds classes: 4
// raddle: -D HOW=8 expect: holds classes: 2
// raddle: -D HOW=0 -D BROKEN expect: violated(deadlock)
// raddle: -D HOW=1 -D BROKEN expect: violated(deadlock)
// raddle: -D HOW=5 -D BROKEN expect: violated(deadlock)
//
// Locks of real code, which wait with patience: they count, look a number of times before they try, wait at random, yield, sleep. All of that makes no
// difference but in time, so each is a loop that only waits. Broken: nobody unlocks.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static atomic_int word, next, owner;
static int counter;

static inline void rest(void) { __asm__ volatile("pause" ::: "memory"); }

static void lock(void)
{
#if HOW == 0 /* twice as long each time */
    unsigned delay = 1;
    while (atomic_exchange(&word, 1)) {
        for (unsigned i = 0; i < delay; i++)
            rest();
        if (delay < 1024)
            delay <<= 1;
    }
#elif HOW == 1 /* looks a hundred times before each attempt */
    for (;;) {
        for (int i = 0; i < 100; i++) {
            if (!atomic_load_explicit(&word, memory_order_relaxed))
                break;
            rest();
        }
        if (!atomic_exchange(&word, 1))
            break;
        sched_yield();
    }
#elif HOW == 2 /* yields after every tenth attempt */
    int attempts = 0;
    while (atomic_exchange(&word, 1))
        if (++attempts > 10) {
            sched_yield();
            attempts = 0;
        }
#elif HOW == 3 /* sleeps when nothing else has helped */
    for (unsigned turn = 0; atomic_exchange(&word, 1); turn++) {
        struct timespec short_time = {0, 1000};
        if (turn < 16)
            rest();
        else if (turn < 32 || (turn & 1))
            sched_yield();
        else
            nanosleep(&short_time, 0);
    }
#elif HOW == 4 /* in proportion to how many are ahead */
    int me = atomic_fetch_add(&next, 1), now;
    while ((now = atomic_load(&owner)) != me)
        for (int i = 0; i < (me - now) * 8; i++)
            rest();
#elif HOW == 5 /* the same as 1, in another form */
    int budget;
    do {
        budget = 50;
        while (atomic_load_explicit(&word, memory_order_relaxed) && budget-- > 0)
            rest();
    } while (atomic_exchange_explicit(&word, 1, memory_order_acquire));
#elif HOW == 6 /* at random */
    uint32_t seed = 2463534242u;
    while (atomic_exchange(&word, 1)) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        for (uint32_t i = seed & 15; i; i--)
            rest();
    }
#elif HOW == 7 /* by jumps */
retry:
    if (atomic_load(&word))
        goto retry;
    if (atomic_exchange(&word, 1))
        goto retry;
#elif HOW == 8 /* three attempts, then a pause */
    for (;;) {
        for (int i = 0; i < 3; i++) {
            int none = 0;
            if (atomic_compare_exchange_strong(&word, &none, 1))
                return;
            rest();
        }
        sched_yield();
    }
#endif
}

static void unlock(void)
{
#ifdef BROKEN
#elif HOW == 4
    atomic_fetch_add(&owner, 1);
#else
    atomic_store_explicit(&word, 0, memory_order_release);
#endif
    (void)rest;
}

static void *worker(void *unused)
{
    lock();
    counter++;
    unlock();
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
