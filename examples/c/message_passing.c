// raddle: --model sc --engine optimal expect: holds classes: 2
// raddle: --model tso --engine optimal expect: holds classes: 2
// raddle: --model pso expect: holds
// raddle: --model pso -D BROKEN --no race expect: violated(assert)
// raddle: --model tso -D BROKEN expect: violated(race)
// raddle: --model rc11 --engine optimal expect: holds classes: 2
// raddle: --model rc11 -D BROKEN expect: violated(race)
// raddle: --model rc11 -D BROKEN --no race expect: violated(assert)
//
// A message and a flag that says it is there. Broken: nothing keeps the two stores in order.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

static int message;
static atomic_int flag;

static void *sender(void *unused)
{
    message = 42;
    atomic_store_explicit(&flag, 1, RELEASE);
    return NULL;
}

static void *receiver(void *unused)
{
    if (atomic_load_explicit(&flag, memory_order_acquire))
        assert(message == 42);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
