// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// A stack of nodes that are used again. Its head is a pointer with a counter beside it, changed by a compare-exchange of both, sixteen bytes: a thread that has read the
// head and was then overtaken finds another counter, even if the same node is on top again (the ABA problem). Broken: nobody counts, and a pop puts
// a node on top that somebody else has taken.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct node {
    struct node *_Atomic next;
    atomic_int taken;
};

struct head {
    struct node *top;
    uintptr_t count;
};

static struct node first, second;
static _Atomic struct head head;

static void push(struct node *node) {
    struct head seen = atomic_load(&head), wanted;
    do {
        atomic_store(&node->next, seen.top);
        wanted.top = node;
#ifdef BROKEN
        wanted.count = 0;
#else
        wanted.count = seen.count + 1;
#endif
    } while (!atomic_compare_exchange_weak(&head, &seen, wanted));
}

static struct node *pop(void) {
    struct head seen = atomic_load(&head), wanted;
    do {
        if (seen.top == 0)
            return 0;
        wanted.top = atomic_load(&seen.top->next);
#ifdef BROKEN
        wanted.count = 0;
#else
        wanted.count = seen.count + 1;
#endif
    } while (!atomic_compare_exchange_weak(&head, &seen, wanted));
    return seen.top;
}

static void use(struct node *node) {
    assert(atomic_exchange(&node->taken, 1) == 0);
}

static void *taker(void *unused) {
    struct node *node = pop();
    if (node)
        use(node);
    node = pop();
    if (node)
        use(node);
    return 0;
}

int main(void) {
    push(&second);
    push(&first);
    pthread_t thread;
    pthread_create(&thread, 0, taker, 0);
    struct node *one = pop(), *other = pop();
    if (other)
        use(other);
    if (one)
        push(one);
    pthread_join(thread, 0);
    return 0;
}
