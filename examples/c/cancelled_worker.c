// raddle: expect: holds
// raddle: -D BROKEN expect: violated(deadlock)
// raddle: -D FORGETFUL expect: violated(assert)
//
// A worker waits for work and is cancelled: it wakes with the mutex locked, so a cleanup handler unlocks it, and whoever joins it is told. Work that
// it has begun, with cancellation disabled, it finishes. Broken: without the handler the mutex stays locked. Forgetful: it can be cancelled
// between taking work and having done it.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int waiting = 1, taken, done;

static void unlock(void *lock)
{
    pthread_mutex_unlock(lock);
}

static void *worker(void *unused)
{
    for (int turn = 0; turn < 2; turn++) {
        pthread_mutex_lock(&mutex);
#ifndef BROKEN
        pthread_cleanup_push(unlock, &mutex);
#endif
        while (waiting == 0)
            pthread_cond_wait(&more, &mutex);
        waiting--;
        taken++;
#ifndef FORGETFUL
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
#endif
        usleep(10);
        done++;
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
#ifndef BROKEN
        pthread_cleanup_pop(0);
#endif
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, worker, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&mutex);
    assert(taken == done && taken + waiting == 1);
    pthread_mutex_unlock(&mutex);
    return 0;
}
