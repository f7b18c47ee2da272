// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model pso expect: holds
// raddle: --model pso -D BROKEN --no race expect: violated(assert)
// raddle: --model sc -D BROKEN expect: violated(race)
//
// A ring for one producer and one consumer: each side writes its own index only. Broken: the producer publishes its index
// without release, so the consumer can see the index before the value.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 2
#define ITEMS 3
#ifdef BROKEN
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

static int slots[SIZE];
static atomic_uint written, consumed;

static void *producer(void *unused)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        while (i - atomic_load_explicit(&consumed, memory_order_acquire) == SIZE)
            ;
        slots[i % SIZE] = (int)i + 1;
        atomic_store_explicit(&written, i + 1, PUBLISH);
    }
    return NULL;
}

static void *consumer(void *unused)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        while (atomic_load_explicit(&written, memory_order_acquire) == i)
            ;
        int value = slots[i % SIZE];
        assert(value == (int)i + 1);
        atomic_store_explicit(&consumed, i + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

// raddle: --model rc11 expect: holds
// raddle: --model rc11 -D BROKEN expect: violated(race)
