// raddle: --model sc -D N=2 --engine optimal expect: holds classes: 2
// raddle: --model sc -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model sc --engine optimal expect: holds classes: 24
// raddle: --model tso --engine optimal expect: holds classes: 24
// raddle: --model pso --engine optimal expect: holds classes: 24
// raddle: --model sc -D N=2 -D BROKEN expect: violated(race)
// raddle: --model sc -D N=2 -D BROKEN --no race expect: violated(assert)
//
// N threads count under a mutex, in any order: N! classes. Broken: without the mutex they race and lose counts.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 4
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *unused)
{
#ifndef BROKEN
    pthread_mutex_lock(&mutex);
#endif
    counter++;
#ifndef BROKEN
    pthread_mutex_unlock(&mutex);
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
