// raddle: --model sc -D THREADS=2 -D TURNS=2 --engine optimal expect: holds classes: 6
// raddle: --model sc --engine optimal expect: holds classes: 90
// raddle: --model tso --engine optimal expect: holds classes: 90
// raddle: --model pso --engine optimal expect: holds classes: 90
// raddle: --model sc --engine optimal --commuting-updates expect: holds classes: 1
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// Three threads count twice each by atomic increments of one variable: 6! / (2! 2! 2!) orders. Broken: the increment is
// a read and a write.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 3
#endif
#ifndef TURNS
#define TURNS 2
#endif

static atomic_int counter;

static void *worker(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
#ifdef BROKEN
        counter = counter + 1;
#else
        counter++;
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS * TURNS);
    return 0;
}
