/* An inbox: anybody puts a node in, one thread takes all of them out. */
#include <stdatomic.h>
#include <stddef.h>

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif

struct node {
    int value;
    struct node *next;
};

struct inbox {
    _Atomic(struct node *) newest;
};

static inline void inbox_put(struct inbox *inbox, struct node *node)
{
    struct node *newest = atomic_load_explicit(&inbox->newest, memory_order_relaxed);
    do
        node->next = newest;
    while (!atomic_compare_exchange_weak_explicit(&inbox->newest, &newest, node, PUBLISH, memory_order_relaxed));
}

/* All nodes, the oldest first. */
static inline struct node *inbox_take(struct inbox *inbox)
{
    struct node *node = atomic_exchange_explicit(&inbox->newest, NULL, memory_order_acquire), *oldest = NULL;
    while (node) {
        struct node *next = node->next;
        node->next = oldest;
        oldest = node;
        node = next;
    }
    return oldest;
}
