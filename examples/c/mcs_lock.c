// raddle: --model sc -D N=2 expect: holds
// raddle: --model tso -D N=2 expect: holds
// raddle: --model sc -D N=3 expect: holds
// raddle: --model sc -D N=2 -D BROKEN expect: violated(deadlock)
// raddle: --model rc11 -D N=2 expect: holds
//
// The MCS lock: waiting threads form a list, and each spins on a flag of its own. Broken: a thread that leaves an empty
// queue does not wait for a successor that has swapped itself in but not linked itself yet.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifndef N
#define N 2
#endif

struct node {
    _Atomic(struct node *) next;
    atomic_int wait;
};

static _Atomic(struct node *) tail;
static struct node nodes[N];
static int counter;

static void lock(struct node *me)
{
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->wait, 1, memory_order_relaxed);
    struct node *before = atomic_exchange(&tail, me);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    while (atomic_load_explicit(&me->wait, memory_order_acquire))
        ;
}

static void unlock(struct node *me)
{
    struct node *after = atomic_load_explicit(&me->next, memory_order_acquire);
    if (after == NULL) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong(&tail, &expected, NULL))
            return;
#ifdef BROKEN
        return;
#endif
        while ((after = atomic_load_explicit(&me->next, memory_order_acquire)) == NULL)
            ;
    }
    atomic_store_explicit(&after->wait, 0, memory_order_release);
}

static void *worker(void *argument)
{
    struct node *me = argument;
    lock(me);
    counter++;
    unlock(me);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, &nodes[i]);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
