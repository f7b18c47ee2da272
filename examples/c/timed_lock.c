// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN --no race expect: violated(lock)
//
// A lock with a deadline: time may run out only while somebody else holds it. Broken: the result is not looked at, and
// a lock that was not taken is given back.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter, failures;

static void *patient(void *unused)
{
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *hurried(void *unused)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 1;
    int result = pthread_mutex_timedlock(&mutex, &deadline);
#ifndef BROKEN
    if (result == ETIMEDOUT) {
        failures++;
        return NULL;
    }
#endif
    counter++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, patient, NULL);
    pthread_create(&b, NULL, hurried, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter + failures == 2);
    return 0;
}
