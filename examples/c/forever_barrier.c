// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// Two threads work in phases with a barrier between them, for ever: what one writes in a phase the other reads in the next.
#include <assert.h>
#include <pthread.h>

pthread_barrier_t barrier;
int left, right;

void *other(void *arg)
{
    for (;;) {
        right = left + 1;
        pthread_barrier_wait(&barrier);
#ifndef WRONG
        pthread_barrier_wait(&barrier);
#endif
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, other, 0);
    for (;;) {
        pthread_barrier_wait(&barrier);
        assert(right == left + 1);
        left = right;
#ifndef WRONG
        pthread_barrier_wait(&barrier);
#endif
    }
}
