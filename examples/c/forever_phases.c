// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// Two workers go from phase to phase, neither more than one ahead of the other. For ever; phases are any 32-bit numbers.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned mine, theirs;

void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
#ifdef WRONG
        if (mine - theirs <= 1)
#else
        if (mine == theirs)
#endif
            mine++;
        assert(mine - theirs <= 1);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, worker, 0);
    for (;;) {
        pthread_mutex_lock(&lock);
        if (mine != theirs)
            theirs++;
        pthread_mutex_unlock(&lock);
    }
}
