// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model tso -D BROKEN expect: violated(memory)
// raddle: --model sc -D CARELESS expect: violated(memory)
// raddle: --model rc11 expect: holds
// raddle: --model rc11 -D BROKEN expect: violated(memory)
//
// A hazard pointer: the reader announces which object it is about to use and looks again whether it is still the
// current one; the writer frees the old object only if nobody announced it. Broken: the announcement is not fenced.
// Careless: the reader does not look again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int value;
};

static _Atomic(struct object *) current, hazard;

static struct object *make(int value)
{
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->value, value);
    return object;
}

static void *reader(void *unused)
{
    struct object *object = atomic_load(&current);
#ifdef BROKEN
    atomic_store_explicit(&hazard, object, memory_order_release);
#else
    atomic_store(&hazard, object);
#endif
#ifndef CARELESS
    if (atomic_load(&current) != object)
        return NULL;
#endif
    assert(atomic_load(&object->value) > 0);
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return NULL;
}

static void *writer(void *unused)
{
    struct object *old = atomic_exchange(&current, make(2));
    if (atomic_load(&hazard) != old)
        free(old);
    return NULL;
}

int main(void)
{
    atomic_init(&current, make(1));
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
