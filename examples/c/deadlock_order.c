// raddle: --model sc --engine optimal expect: holds classes: 2
// raddle: --model sc -D BROKEN expect: violated(deadlock)
//
// Two locks and two threads. Broken: the second thread takes them the other way round.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int both;

static void with(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    both++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *one(void *unused)
{
    with(&a, &b);
    return NULL;
}

static void *other(void *unused)
{
#ifdef BROKEN
    with(&b, &a);
#else
    with(&a, &b);
#endif
    return NULL;
}

int main(void)
{
    pthread_t x, y;
    pthread_create(&x, NULL, one, NULL);
    pthread_create(&y, NULL, other, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    return 0;
}
