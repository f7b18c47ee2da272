// raddle: --model sc -D N=1 --engine optimal expect: holds classes: 2
// raddle: --model sc -D N=3 --engine optimal expect: holds classes: 8
// raddle: --model tso -D N=3 --engine optimal expect: holds classes: 8
// raddle: --model pso -D N=3 --engine optimal expect: holds classes: 8
// raddle: --model sc -D N=6 --engine optimal expect: holds classes: 64
//
// One writer and N readers of one variable: each reader sees the old value or the new one, 2^N classes.
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_int x;

static void *writer(void *unused)
{
    x = 1;
    return NULL;
}

static void *reader(void *unused)
{
    int seen = x;
    return (void *)(long)seen;
}

int main(void)
{
    pthread_t write, read[N];
    pthread_create(&write, NULL, writer, NULL);
    for (int i = 0; i < N; i++)
        pthread_create(&read[i], NULL, reader, NULL);
    pthread_join(write, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(read[i], NULL);
    return 0;
}
