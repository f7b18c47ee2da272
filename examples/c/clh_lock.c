// raddle: --model sc -D N=2 --engine optimal expect: holds classes: 2
// raddle: --model sc -D N=3 --engine optimal expect: holds classes: 6
// raddle: --model tso -D N=2 expect: holds
// raddle: --model sc -D N=2 -D BROKEN expect: violated(race)
//
// The CLH lock: each thread spins on the flag of the thread before it. Broken: the flag is raised after the thread has
// joined the queue, so its successor may find it down.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

struct node {
    atomic_int busy;
};

static struct node nodes[N + 1];
static _Atomic(struct node *) tail = &nodes[N];
static int counter;

static void *worker(void *argument)
{
    struct node *me = &nodes[(long)argument];
#ifndef BROKEN
    atomic_store_explicit(&me->busy, 1, memory_order_relaxed);
#endif
    struct node *before = atomic_exchange(&tail, me);
#ifdef BROKEN
    atomic_store_explicit(&me->busy, 1, memory_order_relaxed);
#endif
    while (atomic_load_explicit(&before->busy, memory_order_acquire))
        ;
    counter++;
    atomic_store_explicit(&me->busy, 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
