// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(race)
// raddle: --model rc11 expect: holds
//
// A bounded queue for many producers and consumers, in which every cell has a sequence number that says whose turn it
// is (after Vyukov). Broken: the cell is handed on before the value is in it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SIZE 2

struct cell {
    atomic_uint sequence;
    int value;
};

static struct cell cells[SIZE];
static atomic_uint tail, head;

static bool put(int value)
{
    unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        int ahead = (int)(atomic_load_explicit(&cell->sequence, memory_order_acquire) - at);
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            at = atomic_load_explicit(&tail, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&tail, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
#ifdef BROKEN
            atomic_store_explicit(&cell->sequence, at + 1, memory_order_release);
            cell->value = value;
#else
            cell->value = value;
            atomic_store_explicit(&cell->sequence, at + 1, memory_order_release);
#endif
            return true;
        }
    }
}

static bool get(int *value)
{
    unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % SIZE];
        int ahead = (int)(atomic_load_explicit(&cell->sequence, memory_order_acquire) - (at + 1));
        if (ahead < 0)
            return false;
        if (ahead > 0) {
            at = atomic_load_explicit(&head, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&head, &at, at + 1, memory_order_relaxed, memory_order_relaxed)) {
            *value = cell->value;
            atomic_store_explicit(&cell->sequence, at + SIZE, memory_order_release);
            return true;
        }
    }
}

static void *producer(void *argument)
{
    bool ok = put((int)(long)argument);
    assert(ok);
    return NULL;
}

static void *consumer(void *unused)
{
    int value = 0;
    if (get(&value))
        assert(value == 1 || value == 2);
    return (void *)(long)value;
}

int main(void)
{
    for (unsigned i = 0; i < SIZE; i++)
        atomic_init(&cells[i].sequence, i);
    pthread_t a, b, c;
    void *seen;
    pthread_create(&a, NULL, producer, (void *)1L);
    pthread_create(&b, NULL, producer, (void *)2L);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, &seen);
    int sum = (int)(long)seen, value;
    while (get(&value))
        sum += value;
    assert(sum == 3);
    return 0;
}
