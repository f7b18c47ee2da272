// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// A semaphore lets one in at a time, for ever.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t gate;
int inside;

void *worker(void *arg)
{
    for (;;) {
        sem_wait(&gate);
        inside++;
        assert(inside == 1);
        inside--;
        sem_post(&gate);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
#ifdef WRONG
    sem_init(&gate, 0, 2);
#else
    sem_init(&gate, 0, 1);
#endif
    pthread_create(&other, 0, worker, 0);
    worker(0);
}
