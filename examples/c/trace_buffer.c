// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// The log of a tracing library: writers reserve space by moving one index and mark their record as committed when it is
// written; the reader stops at the first record that is reserved but not committed. Broken: the reader goes by the
// reserved index alone.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define RECORDS 4

struct record {
    atomic_int committed;
    atomic_int length;
    atomic_int payload[2];
};

static struct record ring[RECORDS];
static atomic_uint reserved;

static void log_message(int a, int b)
{
    unsigned at = atomic_fetch_add(&reserved, 1);
    struct record *record = &ring[at % RECORDS];
    atomic_store_explicit(&record->payload[0], a, memory_order_relaxed);
    atomic_store_explicit(&record->payload[1], b, memory_order_relaxed);
    atomic_store_explicit(&record->length, 2, memory_order_relaxed);
    atomic_store_explicit(&record->committed, 1, memory_order_release);
}

static void *writer(void *argument)
{
    int id = (int)(long)argument;
    log_message(id, -id);
    return NULL;
}

static void *reader(void *unused)
{
    unsigned end = atomic_load(&reserved);
    for (unsigned at = 0; at < end; at++) {
        struct record *record = &ring[at % RECORDS];
#ifndef BROKEN
        if (!atomic_load_explicit(&record->committed, memory_order_acquire))
            break;
#endif
        int length = atomic_load_explicit(&record->length, memory_order_relaxed);
        assert(length == 2);
        int a = atomic_load_explicit(&record->payload[0], memory_order_relaxed);
        int b = atomic_load_explicit(&record->payload[1], memory_order_relaxed);
        assert(a + b == 0 && a != 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    memset(ring, 0, sizeof ring);
    pthread_create(&a, NULL, writer, (void *)1L);
    pthread_create(&b, NULL, writer, (void *)2L);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
