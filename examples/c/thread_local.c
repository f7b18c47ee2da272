// raddle: --model sc --engine optimal expect: holds classes: 1
// raddle: --model sc -D BROKEN expect: violated(race)
//
// Each thread counts in a variable of its own and hands the result to join. Broken: the variable is shared.
#include <assert.h>
#include <pthread.h>

#ifdef BROKEN
static int count;
#else
static _Thread_local int count;
#endif

static void *worker(void *argument)
{
    for (long i = 0; i < (long)argument; i++)
        count++;
    return (void *)(long)count;
}

int main(void)
{
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, NULL, worker, (void *)2L);
    pthread_create(&b, NULL, worker, (void *)3L);
    pthread_join(a, &x);
    pthread_join(b, &y);
    assert((long)x == 2 && (long)y == 3);
    return 0;
}
