// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
// raddle: --model rc11 expect: holds
//
// The queue of Michael and Scott: a dummy node, a tail that may lag behind and is helped along. Two threads enqueue, main
// dequeues. Broken: enqueue links its node with a plain exchange of the next pointer, and loses the other's.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

static _Atomic(struct node *) head, tail;

static struct node *make(int value)
{
    struct node *node = malloc(sizeof *node);
    node->value = value;
    atomic_init(&node->next, NULL);
    return node;
}

static void enqueue(int value)
{
    struct node *node = make(value);
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (next == NULL) {
#ifdef BROKEN
            atomic_exchange(&last->next, node);
            atomic_compare_exchange_strong(&tail, &last, node);
            return;
#else
            if (atomic_compare_exchange_strong(&last->next, &next, node)) {
                atomic_compare_exchange_strong(&tail, &last, node);
                return;
            }
#endif
        } else {
            atomic_compare_exchange_strong(&tail, &last, next);
        }
    }
}

static int dequeue(void)
{
    struct node *first = atomic_load(&head);
    struct node *next = atomic_load(&first->next);
    if (next == NULL)
        return -1;
    atomic_store(&head, next);
    free(first);
    return next->value;
}

static void *producer(void *argument)
{
    enqueue((int)(long)argument);
    return NULL;
}

int main(void)
{
    struct node *dummy = make(0);
    atomic_init(&head, dummy);
    atomic_init(&tail, dummy);
    pthread_t a, b;
    pthread_create(&a, NULL, producer, (void *)1L);
    pthread_create(&b, NULL, producer, (void *)2L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int x = dequeue(), y = dequeue();
    assert(x + y == 3);
    return 0;
}
