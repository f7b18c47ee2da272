// raddle: --model sc expect: holds
// raddle: --model sc --32 expect: holds
// raddle: --model tso --32 expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
// raddle: --model sc -D BROKEN --32 expect: violated(assert)
//
// A list whose nodes are deleted by a mark in the lowest bit of their link (Harris 2001), on 64 and on 32 bits. One thread marks the
// first node, another inserts behind it: the insertion must not survive on a deleted node. Broken: the insertion
// does not look at the mark.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct node {
    _Atomic(uintptr_t) next;
    int value;
};

static struct node last = {0, 3}, first = {0, 1}, fresh = {0, 2};
static int inserted, deleted;

static struct node *node_of(uintptr_t link)
{
    return (struct node *)(link & ~(uintptr_t)1);
}

static void *delete(void *unused)
{
    uintptr_t link = atomic_load(&first.next);
    while (!(link & 1))
        if (atomic_compare_exchange_weak(&first.next, &link, link | 1))
            deleted = 1;
    return unused;
}

static void *insert(void *unused)
{
    uintptr_t link = atomic_load(&first.next);
#ifndef BROKEN
    if (link & 1)
        return unused;
#endif
    atomic_store(&fresh.next, (uintptr_t)node_of(link));
    if (atomic_compare_exchange_strong(&first.next, &link, (uintptr_t)&fresh))
        inserted = 1;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    atomic_store(&first.next, (uintptr_t)&last);
    pthread_create(&a, 0, delete, 0);
    pthread_create(&b, 0, insert, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(deleted && (atomic_load(&first.next) & 1));
    struct node *next = node_of(atomic_load(&first.next));
    assert(next->value == (inserted ? 2 : 3));
    assert(sizeof(void *) == sizeof(uintptr_t) && offsetof(struct node, value) == sizeof(void *));
    return 0;
}
