// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(lock)
// raddle: --model sc -D STATIC expect: holds
//
// A recursive mutex: a public operation calls another one under the same lock. Broken: the mutex is a normal one.
#include <assert.h>
#include <pthread.h>

#ifdef STATIC
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#else
static pthread_mutex_t mutex;
#endif
static int counter;

static void add(int n)
{
    pthread_mutex_lock(&mutex);
    counter += n;
    pthread_mutex_unlock(&mutex);
}

static void *twice(void *unused)
{
    pthread_mutex_lock(&mutex);
    add(1);
    add(1);
    assert(counter % 2 == 0);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
#ifndef STATIC
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
#ifndef BROKEN
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
#endif
    pthread_mutex_init(&mutex, &attributes);
#endif
    pthread_t a, b;
    pthread_create(&a, NULL, twice, NULL);
    pthread_create(&b, NULL, twice, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 4);
    pthread_mutex_destroy(&mutex);
    return 0;
}
