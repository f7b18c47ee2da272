// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model tso -D BROKEN expect: violated(race)
//
// Burns' algorithm with one bit per thread: who has the lower number is served first. Broken: no fence behind the
// announcement.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2];
static int data;

static void announce(int me, int value)
{
    atomic_store_explicit(&flag[me], value, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static void *first(void *unused)
{
    announce(0, 1);
    while (atomic_load(&flag[1]))
        ;
    data++;
    atomic_store(&flag[0], 0);
    return NULL;
}

static void *second(void *unused)
{
again:
    announce(1, 0);
    while (atomic_load(&flag[0]))
        ;
    announce(1, 1);
    if (atomic_load(&flag[0]))
        goto again;
    data++;
    atomic_store(&flag[1], 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(data == 2);
    return 0;
}
