// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// A token goes round between three threads, for ever. Whoever has it is alone.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 3

atomic_int turn;
int inside;

void *station(void *arg)
{
    int me = (int)(long)arg;
    for (;;) {
        while (atomic_load(&turn) != me)
            ;
        inside++;
        assert(inside == 1);
        inside--;
#ifdef WRONG
        atomic_store(&turn, me == N - 1 ? 1 : me + 1);
        if (me == N - 1)
            atomic_store(&turn, 0);
#else
        atomic_store(&turn, me == N - 1 ? 0 : me + 1);
#endif
    }
}

int main(void)
{
    pthread_t threads[N];
    for (long me = 1; me < N; me++)
        pthread_create(&threads[me], 0, station, (void *)me);
    station(0);
}
