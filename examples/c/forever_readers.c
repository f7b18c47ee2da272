// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// A writer keeps two numbers the same under a reader-writer lock; readers never see them differ. For ever, any numbers.
#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int first, second;

void *reader(void *arg)
{
    for (;;) {
        pthread_rwlock_rdlock(&lock);
        assert(first == second);
        pthread_rwlock_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, 0, reader, 0);
    for (;;) {
        int value = __VERIFIER_nondet_int();
#ifdef WRONG
        pthread_rwlock_rdlock(&lock);
#else
        pthread_rwlock_wrlock(&lock);
#endif
        first = value;
        second = value;
        pthread_rwlock_unlock(&lock);
    }
}
