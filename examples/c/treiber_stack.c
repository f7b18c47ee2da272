// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
// raddle: --model rc11 expect: holds
//
// Treiber's stack: push and pop swing the head with a compare-exchange. Two threads push one value each, and main pops
// both. Broken: push stores the head without looking whether it has changed.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) head;

static void push(int value)
{
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load_explicit(&head, memory_order_relaxed);
#ifdef BROKEN
    atomic_store_explicit(&head, node, memory_order_release);
#else
    while (!atomic_compare_exchange_weak_explicit(&head, &node->next, node, memory_order_release, memory_order_relaxed))
        ;
#endif
}

static int pop(void)
{
    struct node *top = atomic_load_explicit(&head, memory_order_acquire);
    while (top && !atomic_compare_exchange_weak_explicit(&head, &top, top->next, memory_order_acquire, memory_order_acquire))
        ;
    if (!top)
        return -1;
    int value = top->value;
    free(top);
    return value;
}

static void *pusher(void *argument)
{
    push((int)(long)argument);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, pusher, (void *)1L);
    pthread_create(&b, NULL, pusher, (void *)2L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int x = pop(), y = pop();
    assert(x + y == 3);
    assert(pop() == -1);
    return 0;
}
