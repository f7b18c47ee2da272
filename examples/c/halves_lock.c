// A ticket lock in one word: a ticket is taken from the upper half by an update of the whole, the lower half says who is served and is read and written alone. Memory is
// accessed atomically with different sizes, so the update is made in pieces, in one step.
//
// raddle: expect: holds
// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: -D BROKEN expect: violated(race)
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static union {
    uint32_t both;
    struct {
        uint16_t served, next;
    } half;
} lock;
static int count;

static void *worker(void *unused)
{
    uint32_t taken = __atomic_fetch_add(&lock.both, 1u << 16, __ATOMIC_RELAXED);
    uint16_t mine = taken >> 16;
#ifndef BROKEN
    while (__atomic_load_n(&lock.half.served, __ATOMIC_ACQUIRE) != mine)
        ;
#endif
    count++;
    __atomic_store_n(&lock.half.served, mine + 1, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(count == 2);
    return 0;
}
