// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// One thread hands any number to another one through a box, for ever. It arrives as it was sent.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int __VERIFIER_nondet_int(void);

int box, copy;
atomic_int full;

void *receiver(void *arg)
{
    for (;;) {
        while (!atomic_load(&full))
            ;
        assert(box == copy);
#ifdef WRONG
        atomic_store(&full, 0);
        box = 0;
#else
        box = 0;
        atomic_store(&full, 0);
#endif
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, receiver, 0);
    for (;;) {
        int value = __VERIFIER_nondet_int();
        while (atomic_load(&full))
            ;
        box = value;
        copy = value;
        atomic_store(&full, 1);
    }
}
