// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// Work of any size is split between two threads; what is left is never negative, and in the end nothing is. Loops of up to 2^31 turns.
#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int left;

void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
#ifdef WRONG
        if (left == 0) {
#else
        if (left <= 0) {
#endif
            pthread_mutex_unlock(&lock);
            return arg;
        }
        left--;
        assert(left >= 0);
        pthread_mutex_unlock(&lock);
    }
}

int main(void)
{
    pthread_t one, two;
    left = __VERIFIER_nondet_int();
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(left <= 0);
}
