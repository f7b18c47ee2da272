// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model tso -D BROKEN expect: violated(assert)
//
// Sleeping and waking without a lock: the sleeper announces itself and looks for work once more; the waker adds work and
// looks for sleepers. One of them must see the other. Broken: the announcement waits in the store buffer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_seq_cst
#endif

static atomic_int work, sleepers, woken;

static void *sleeper(void *unused)
{
    atomic_store_explicit(&sleepers, 1, ORDER);
    return (void *)(long)(atomic_load(&work) == 0);
}

static void *waker(void *unused)
{
    atomic_store_explicit(&work, 1, ORDER);
    if (atomic_load(&sleepers))
        atomic_store(&woken, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    void *asleep;
    pthread_create(&a, NULL, sleeper, NULL);
    pthread_create(&b, NULL, waker, NULL);
    pthread_join(a, &asleep);
    pthread_join(b, NULL);
    assert(!asleep || atomic_load(&woken));
    return 0;
}
