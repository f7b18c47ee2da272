// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// Two threads count under a lock, for ever. Both counters are the same whenever the lock is free.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned begun, done;

void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        begun++;
#ifdef WRONG
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        done++;
        assert(begun == done);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, worker, 0);
    worker(0);
}
