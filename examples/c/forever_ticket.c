// raddle: --engine cegar --model sc --no deadlock expect: holds
// raddle: --engine cegar --model sc --no deadlock -D WRONG expect: violated(race)
//
// A ticket lock with tickets that wrap, taken for ever by two threads.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uchar next, serving;
int inside;

void *worker(void *arg)
{
    for (;;) {
#ifdef WRONG
        unsigned char mine = atomic_load(&next);
        atomic_store(&next, (mine + 1) & 3);
#else
        unsigned char mine = atomic_load(&next);
        while (!atomic_compare_exchange_strong(&next, &mine, (mine + 1) & 3))
            ;
#endif
        while (atomic_load(&serving) != mine)
            ;
        inside++;
        assert(inside == 1);
        inside--;
        atomic_store(&serving, (mine + 1) & 3);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, worker, 0);
    worker(0);
}
