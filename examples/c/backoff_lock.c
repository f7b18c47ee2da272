// raddle: -D HOW=0 expect: holds classes: 2
// raddle: -D HOW=1 expect: holds classes: 2
// raddle: -D HOW=2 expect: holds classes: 4
// raddle: -D HOW=3 expect: holds classes: 2
// raddle: -D HOW=0 --model sc expect: holds classes: 2
// raddle: -D HOW=0 -D BROKEN expect: violated(race)
//
// Locks that wait longer the more often they have tried: exponential back-off, a yield after some attempts, a yield in every fourth turn, back-off in proportion to how
// many are ahead. The counters decide nothing but how long to wait, so every lock is a loop that only waits.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef BROKEN
#define ACQUIRE memory_order_relaxed
#else
#define ACQUIRE memory_order_acquire
#endif

static atomic_int word, next;
static int counter;

static void rest(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause" ::: "memory");
#endif
}

static void lock(void)
{
#if HOW == 0
    int delay = 1;
    while (atomic_exchange_explicit(&word, 1, ACQUIRE)) {
        for (int i = 0; i < delay; i++)
            rest();
        if (delay < 1024)
            delay *= 2;
    }
#elif HOW == 1
    int attempts = 0;
    while (atomic_exchange_explicit(&word, 1, ACQUIRE)) {
        if (++attempts > 10) {
            sched_yield();
            attempts = 0;
        }
    }
#elif HOW == 2
    unsigned turns = 0;
    while (atomic_load_explicit(&word, memory_order_relaxed) || atomic_exchange_explicit(&word, 1, ACQUIRE)) {
        if ((++turns & 3) == 0)
            sched_yield();
        else
            rest();
    }
#else
    int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    for (;;) {
        int now = atomic_load_explicit(&word, ACQUIRE);
        if (now == mine)
            break;
        for (int i = 0; i < (mine - now) * 16; i++)
            rest();
    }
#endif
}

static void unlock(void)
{
#if HOW == 3
    atomic_store_explicit(&word, atomic_load_explicit(&word, memory_order_relaxed) + 1, memory_order_release);
#else
    atomic_store_explicit(&word, 0, memory_order_release);
#endif
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
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2);
}
