// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(memory)
//
// Popping from Treiber's stack in two threads and freeing what was popped. Right: nodes are freed when both threads are
// done. Broken: a node is freed at once, and the other thread, about to pop it too, reads its next pointer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *_Atomic next;
};

static _Atomic(struct node *) head;

static void *popper(void *unused)
{
    struct node *top = atomic_load(&head);
    while (top && !atomic_compare_exchange_strong(&head, &top, atomic_load(&top->next)))
        ;
#ifdef BROKEN
    free(top);
    return NULL;
#else
    return top;
#endif
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        struct node *node = malloc(sizeof *node);
        node->value = i;
        atomic_init(&node->next, atomic_load(&head));
        atomic_store(&head, node);
    }
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, NULL, popper, NULL);
    pthread_create(&b, NULL, popper, NULL);
    pthread_join(a, &x);
    pthread_join(b, &y);
#ifndef BROKEN
    assert(x != y);
    free(x);
    free(y);
#endif
    return 0;
}
