// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model pso expect: holds
// raddle: --model pso -D BROKEN expect: violated(race)
//
// A spin lock from atomic_flag. Broken: it is released with a relaxed store, which under PSO (and for the race
// detector everywhere) may overtake what the lock protects.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag busy = ATOMIC_FLAG_INIT;
static int balance;

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

static void *deposit(void *amount)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
    balance += (int)(long)amount;
    atomic_flag_clear_explicit(&busy, RELEASE);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, deposit, (void *)5L);
    pthread_create(&b, NULL, deposit, (void *)7L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(balance == 12);
    return 0;
}
