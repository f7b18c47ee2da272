// raddle: --model tso expect: holds
// raddle: --model tso -D BROKEN expect: violated(assert)
//
// The queue lock of Mellor-Crummey and Scott (1991), of two threads that take it for ever. Only threads' own variables are accessed without being atomic, so nothing can race, and no bound on the loops is needed: it is robust, and
// right under SC. BROKEN takes the end of the queue by a load and a store.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int locked;
};

static struct node nodes[2];
static _Atomic(struct node *) tail;
static atomic_long inside;

static struct node *enqueue(struct node *own) {
#ifdef BROKEN
    struct node *before = atomic_load_explicit(&tail, memory_order_acquire);
    atomic_store_explicit(&tail, own, memory_order_release);
    return before;
#else
    return atomic_exchange(&tail, own);
#endif
}

static void lock(struct node *own) {
    atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
    struct node *before = enqueue(own);
    if (before != NULL) {
        atomic_store_explicit(&own->locked, 1, memory_order_relaxed);
        atomic_store_explicit(&before->next, own, memory_order_release);
        while (atomic_load_explicit(&own->locked, memory_order_acquire)) {
        }
    }
}

static void unlock(struct node *own) {
    struct node *after = atomic_load_explicit(&own->next, memory_order_acquire);
    if (after == NULL) {
        struct node *expected = own;
        if (atomic_compare_exchange_strong(&tail, &expected, NULL)) {
            return;
        }
        while ((after = atomic_load_explicit(&own->next, memory_order_acquire)) == NULL) {
        }
    }
    atomic_store_explicit(&after->locked, 0, memory_order_release);
}

static void *worker(void *argument) {
    long me = (long)argument;
    for (;;) {
        lock(&nodes[me]);
        atomic_store_explicit(&inside, me, memory_order_relaxed);
        assert(atomic_load_explicit(&inside, memory_order_relaxed) == me);
        unlock(&nodes[me]);
    }
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, (void *)0);
    pthread_create(&second, NULL, worker, (void *)1);
    pthread_join(first, NULL);
    return 0;
}
