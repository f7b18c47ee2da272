// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(memory)
//
// A reference count: who drops the last reference frees the object. Broken: the count is read again after it was
// lowered, so both threads can see zero.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int references;
    int data;
};

static void drop(struct shared *object)
{
#ifdef BROKEN
    atomic_fetch_sub(&object->references, 1);
    if (atomic_load(&object->references) == 0)
        free(object);
#else
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        free(object);
#endif
}

static void *user(void *argument)
{
    struct shared *object = argument;
    assert(object->data == 5);
    drop(object);
    return NULL;
}

int main(void)
{
    struct shared *object = malloc(sizeof *object);
    atomic_init(&object->references, 2);
    object->data = 5;
    pthread_t a, b;
    pthread_create(&a, NULL, user, object);
    pthread_create(&b, NULL, user, object);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
