// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(race)
//
// A reader-writer spin lock in one word: a writer takes all of it, a reader one unit. Broken: the reader does not give
// back its unit and try again when it finds a writer.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define FREE 0x1000

static atomic_int word = FREE;
static int a, b;

static void read_lock(void)
{
    while (atomic_fetch_sub_explicit(&word, 1, memory_order_acquire) <= 0) {
#ifdef BROKEN
        return;
#endif
        atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
        while (atomic_load_explicit(&word, memory_order_relaxed) <= 0)
            ;
    }
}

static void write_lock(void)
{
    int expected = FREE;
    while (!atomic_compare_exchange_strong_explicit(&word, &expected, 0, memory_order_acquire, memory_order_relaxed))
        expected = FREE;
}

static void *reader(void *unused)
{
    read_lock();
    assert(a == b);
    atomic_fetch_add_explicit(&word, 1, memory_order_release);
    return NULL;
}

static void *writer(void *unused)
{
    write_lock();
    a++;
    b++;
    atomic_fetch_add_explicit(&word, FREE, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t r, w;
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&w, NULL, writer, NULL);
    pthread_join(r, NULL);
    pthread_join(w, NULL);
    return 0;
}
