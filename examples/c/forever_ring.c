// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// A ring of three places between a producer and a consumer, for ever. What comes out is what went in: here, whether numbers are in order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 3

unsigned char ring[SIZE];
atomic_int used;

void *producer(void *arg)
{
    unsigned char next = 0;
    int at = 0;
    for (;;) {
#ifdef WRONG
        while (atomic_load(&used) > SIZE)
#else
        while (atomic_load(&used) == SIZE)
#endif
            ;
        ring[at] = next;
        next = (next + 1) & 3;
        at = at + 1 == SIZE ? 0 : at + 1;
        atomic_fetch_add(&used, 1);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, producer, 0);
    unsigned char expected = 0;
    int at = 0;
    for (;;) {
        while (atomic_load(&used) == 0)
            ;
        assert(ring[at] == expected);
        expected = (expected + 1) & 3;
        at = at + 1 == SIZE ? 0 : at + 1;
        atomic_fetch_sub(&used, 1);
    }
}
