// raddle: --live expect: holds
// raddle: --live -D UNKNOWN expect: violated(termination)
//
// Two threads of the same code elect one of them: each draws a bit, both meet, and if the bits differ the one with 1 is elected. What is drawn differs in the end with probability 1. Of inputs that are not known nothing can be said like that.

#include <assert.h>
#include <pthread.h>
#include <raddle.h>

#ifdef UNKNOWN
_Bool __VERIFIER_nondet_bool(void);
#define DRAW __VERIFIER_nondet_bool()
#else
#define DRAW raddle_random(2)
#endif

int bit[2];
int elected[2];
pthread_barrier_t meeting;

static void *candidate(void *arg) {
    int me = arg != 0, same;
    do {
        bit[me] = DRAW;
        pthread_barrier_wait(&meeting);
        same = bit[0] == bit[1];
        elected[me] = bit[me] > bit[1 - me];
        pthread_barrier_wait(&meeting);
    } while (same);
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_barrier_init(&meeting, 0, 2);
    pthread_create(&one, 0, candidate, 0);
    pthread_create(&other, 0, candidate, &meeting);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(elected[0] + elected[1] == 1);
    return 0;
}
