// raddle: --model sc -D N=11 --engine optimal expect: holds classes: 1
// raddle: --model sc -D N=12 --engine optimal expect: holds classes: 8
// raddle: --model sc -D N=13 --engine optimal expect: holds classes: 64
// raddle: --model tso -D N=12 --engine optimal expect: holds classes: 8
// raddle: --model sc -D N=14 --engine optimal expect: holds classes: 512
//
// N threads put four messages each into a hash table and claim cells by compare-exchange. Up to eleven threads use
// different cells, and there is one class; every further thread collides in three cells.
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 12
#endif
#define SIZE 128
#define MESSAGES 4

static atomic_int table[SIZE];

static void *worker(void *argument)
{
    int id = (int)(long)argument;
    for (int m = 1; m <= MESSAGES; m++) {
        int message = m * 11 + id;
        int cell = message * 7 % SIZE;
        int expected = 0;
        while (!atomic_compare_exchange_strong(&table[cell], &expected, message)) {
            cell = (cell + 1) % SIZE;
            expected = 0;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < SIZE; i++)
        atomic_init(&table[i], 0);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
