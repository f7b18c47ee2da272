// A driver for a queue of your own: a few threads use it, and what must be true in the end is asserted.
//
// raddle: expect: holds
// raddle: --model sc -D PUBLISH=memory_order_relaxed expect: violated(race)
// raddle: -D PUBLISH=memory_order_relaxed expect: violated(race)
#include "inbox.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static struct inbox inbox;

static void *sender(void *value)
{
    struct node *node = malloc(sizeof *node);
    node->value = (int)(long)value;
    inbox_put(&inbox, node);
    return NULL;
}

static int sum_of_all(void)
{
    int sum = 0;
    for (struct node *node = inbox_take(&inbox), *next; node; node = next) {
        next = node->next;
        sum += node->value;
        free(node);
    }
    return sum;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, sender, (void *)1);
    pthread_create(&b, NULL, sender, (void *)2);
    int sum = sum_of_all();
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    sum += sum_of_all();
    assert(sum == 3);
    return 0;
}
