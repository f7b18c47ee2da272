// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// A ring of two places with wrap-around, a mutex, and a condition variable each for "not full" and "not empty", for ever. What comes out is in order.
#include <assert.h>
#include <pthread.h>

#define SIZE 2

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
unsigned char ring[SIZE];
int first, used;

void *producer(void *arg)
{
    unsigned char next = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
#ifndef WRONG
        while (used == SIZE)
            pthread_cond_wait(&not_full, &lock);
#endif
        assert(used < SIZE);
        ring[first + used < SIZE ? first + used : first + used - SIZE] = next;
        next = next == 2 ? 0 : next + 1;
        used++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, producer, 0);
    unsigned char expected = 0;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (used == 0)
            pthread_cond_wait(&not_empty, &lock);
        unsigned char got = ring[first];
        first = first + 1 == SIZE ? 0 : first + 1;
        used--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
        assert(got == expected);
        expected = expected == 2 ? 0 : expected + 1;
    }
}
