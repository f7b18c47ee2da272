// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// A queue of two places whose items are in order, whoever puts any number in or takes one out. For ever.
#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int items, small, large;

void *producer(void *arg)
{
    for (;;) {
        int value = __VERIFIER_nondet_int();
        pthread_mutex_lock(&lock);
        if (items == 0) {
            small = value;
            items = 1;
        } else if (items == 1) {
#ifdef WRONG
            large = value;
#else
            if (value < small) {
                large = small;
                small = value;
            } else {
                large = value;
            }
#endif
            items = 2;
        }
        assert(items < 2 || small <= large);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, producer, 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        if (items == 2)
            small = large;
        if (items > 0)
            items--;
        pthread_mutex_unlock(&lock);
    }
}
