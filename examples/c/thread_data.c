// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// Thread-specific data with a destructor that gives back what the thread has borrowed. Broken: the destructor is missing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_key_t key;
static atomic_int borrowed;

static void give_back(void *what)
{
    atomic_fetch_sub(&borrowed, (int)(long)what);
}

static void *worker(void *argument)
{
    atomic_fetch_add(&borrowed, (int)(long)argument);
    pthread_setspecific(key, argument);
    if (pthread_getspecific(key) != argument)
        return NULL;
    pthread_exit(NULL);
}

int main(void)
{
    pthread_t a, b;
#ifdef BROKEN
    pthread_key_create(&key, NULL);
#else
    pthread_key_create(&key, give_back);
#endif
    pthread_create(&a, NULL, worker, (void *)1L);
    pthread_create(&b, NULL, worker, (void *)2L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&borrowed) == 0);
    return 0;
}
