// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model pso expect: holds
// raddle: --model tso -D BROKEN expect: violated(race)
// raddle: --model tso -D BROKEN --no race expect: violated(assert)
// raddle: --model sc -D BROKEN expect: holds
// raddle: --model rc11 expect: holds
// raddle: --model rc11 -D BROKEN expect: violated(race)
//
// Peterson's algorithm for two threads. Broken: the announcement may still be in the store buffer when the thread looks
// for the other's, which only sequential consistency forbids.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define ANNOUNCE memory_order_release
#else
#define ANNOUNCE memory_order_seq_cst
#endif

static atomic_int wants[2], turn;
static int inside;

static void *worker(void *argument)
{
    int me = (int)(long)argument, other = 1 - me;
    atomic_store_explicit(&wants[me], 1, ANNOUNCE);
    atomic_store_explicit(&turn, other, ANNOUNCE);
    while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&wants[me], 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)0L);
    pthread_create(&b, NULL, worker, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
