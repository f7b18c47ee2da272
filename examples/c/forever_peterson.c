// raddle: --engine cegar --model sc --no deadlock expect: holds
// raddle: --engine cegar --model sc --no deadlock -D WRONG expect: violated(race)
//
// Peterson's lock, taken and given back for ever by two threads.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int wants[2], turn;
int inside;

void *worker(void *arg)
{
    int me = (int)(long)arg, other = 1 - me;
    for (;;) {
        atomic_store(&wants[me], 1);
#ifdef WRONG
        atomic_store(&turn, me);
#else
        atomic_store(&turn, other);
#endif
        while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
            ;
        inside++;
        assert(inside == 1);
        inside--;
        atomic_store(&wants[me], 0);
    }
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, worker, (void *)1L);
    worker(0);
}
