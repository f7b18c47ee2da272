// raddle: --model sc -D N=2 --engine optimal expect: holds classes: 5
// raddle: --model sc -D N=3 --engine optimal expect: holds classes: 12
// raddle: --model sc -D N=4 --engine optimal expect: holds classes: 28
// raddle: --model sc -D N=5 --engine optimal expect: holds classes: 64
// raddle: --model tso -D N=4 --engine optimal expect: holds classes: 28
// raddle: --model pso -D N=4 --engine optimal expect: holds classes: 28
//
// One thread looks for the last zero of an array from its end, while N threads each set an element to its left
// neighbour plus one: (N + 3) * 2^(N - 2) classes.
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 4
#endif

static atomic_int array[N + 1];

static void *search(void *unused)
{
    int i = N;
    while (atomic_load_explicit(&array[i], memory_order_relaxed) != 0)
        i--;
    return NULL;
}

static void *setter(void *argument)
{
    long j = (long)argument;
    int left = atomic_load_explicit(&array[j - 1], memory_order_relaxed);
    atomic_store_explicit(&array[j], left + 1, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t threads[N + 1];
    pthread_create(&threads[0], NULL, search, NULL);
    for (long j = 1; j <= N; j++)
        pthread_create(&threads[j], NULL, setter, (void *)j);
    for (int j = 0; j <= N; j++)
        pthread_join(threads[j], NULL);
    return 0;
}
