// raddle: --model sc -D N=2 --engine optimal expect: holds classes: 2
// raddle: --model sc -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model sc -D N=4 --engine optimal expect: holds classes: 24
// raddle: --model tso -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model pso -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model sc -D N=2 -D BROKEN --no deadlock expect: violated(race)
// raddle: --model sc -D N=2 -D BROKEN --no race,deadlock expect: violated(assert)
//
// A ticket lock: N threads enter in the order of their tickets, N! classes. Broken: tickets are drawn by a read and
// a write, so two threads can have the same one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static atomic_uint next_ticket, now_serving;
static int counter;

static unsigned draw(void)
{
#ifdef BROKEN
    unsigned ticket = atomic_load(&next_ticket);
    atomic_store(&next_ticket, ticket + 1);
    return ticket;
#else
    return atomic_fetch_add(&next_ticket, 1);
#endif
}

static void *worker(void *unused)
{
    unsigned ticket = draw();
    while (atomic_load_explicit(&now_serving, memory_order_acquire) != ticket)
        ;
    counter++;
    atomic_store_explicit(&now_serving, ticket + 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
