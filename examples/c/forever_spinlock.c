// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// A spin lock by compare-exchange, taken for ever by two threads. What it guards is a pair that is changed together.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int low = 0, high = 10;

static void acquire(void)
{
    int free = 0;
    while (!atomic_compare_exchange_strong(&taken, &free, 1))
        free = 0;
}

static void release(void)
{
    atomic_store(&taken, 0);
}

void *up(void *arg)
{
    for (;;) {
        acquire();
        if (low + 1 < high)
            low++;
        assert(low < high);
        release();
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, up, 0);
    for (;;) {
#ifndef WRONG
        acquire();
#endif
        if (high - 1 > low)
            high--;
        else
            low = 0, high = 10;
#ifndef WRONG
        assert(low < high);
        release();
#endif
    }
}
