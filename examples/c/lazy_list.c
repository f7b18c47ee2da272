// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// A sorted list with a lock per node, locked hand over hand. Two threads insert neighbours. Broken: the place is looked
// up without locks, and the predecessor is locked too late to be the right one still.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    int key;
    _Atomic(struct node *) next;
    pthread_mutex_t lock;
};

static struct node last = { 100, NULL, PTHREAD_MUTEX_INITIALIZER };
static struct node first = { 0, &last, PTHREAD_MUTEX_INITIALIZER };
static struct node fresh[2];

static void insert(struct node *node)
{
    struct node *before = &first;
#ifdef BROKEN
    struct node *after = before->next;
    while (after->key < node->key) {
        before = after;
        after = before->next;
    }
    pthread_mutex_lock(&before->lock);
    node->next = after;
    before->next = node;
    pthread_mutex_unlock(&before->lock);
#else
    pthread_mutex_lock(&before->lock);
    struct node *after = before->next;
    while (after->key < node->key) {
        pthread_mutex_lock(&after->lock);
        pthread_mutex_unlock(&before->lock);
        before = after;
        after = before->next;
    }
    node->next = after;
    before->next = node;
    pthread_mutex_unlock(&before->lock);
#endif
}

static void *inserter(void *argument)
{
    insert(argument);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        fresh[i].key = 10 * (i + 1);
        pthread_mutex_init(&fresh[i].lock, NULL);
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, inserter, &fresh[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int count = 0;
    for (struct node *node = first.next; node != &last; node = node->next)
        count++;
    assert(count == 2);
    return 0;
}
