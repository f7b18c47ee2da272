// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(deadlock)
//
// Waiting for an event. Broken: the flag is looked at before the mutex is taken, so the signal can come in between and
// wake nobody.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event = PTHREAD_COND_INITIALIZER;
static atomic_int happened;

static void *waiter(void *unused)
{
#ifdef BROKEN
    if (!atomic_load(&happened)) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&event, &mutex);
        pthread_mutex_unlock(&mutex);
    }
#else
    pthread_mutex_lock(&mutex);
    while (!atomic_load(&happened))
        pthread_cond_wait(&event, &mutex);
    pthread_mutex_unlock(&mutex);
#endif
    return NULL;
}

static void *signaller(void *unused)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&happened, 1);
    pthread_cond_signal(&event);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, signaller, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
