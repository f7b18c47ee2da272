// raddle: --model sc expect: holds
// raddle: --model pso expect: holds
// raddle: --model sc -D BROKEN expect: violated(race)
// raddle: --model pso -D BROKEN --no race expect: violated(assert)
// raddle: --model rc11 expect: holds
//
// Double-checked locking: the instance is made once, by whoever comes first. Broken: the pointer is a plain one, so its
// value can be seen before what it points at.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct instance {
    int ready;
};

static struct instance storage;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#ifdef BROKEN
static struct instance *instance;
#define GET() instance
#define PUT(p) (instance = (p))
#else
static _Atomic(struct instance *) instance;
#define GET() atomic_load_explicit(&instance, memory_order_acquire)
#define PUT(p) atomic_store_explicit(&instance, p, memory_order_release)
#endif

static struct instance *get_instance(void)
{
    struct instance *known = GET();
    if (known == NULL) {
        pthread_mutex_lock(&mutex);
        known = GET();
        if (known == NULL) {
            storage.ready = 1;
            known = &storage;
            PUT(known);
        }
        pthread_mutex_unlock(&mutex);
    }
    return known;
}

static void *user(void *unused)
{
    assert(get_instance()->ready == 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
