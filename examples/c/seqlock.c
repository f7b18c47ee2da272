// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model pso expect: holds
// raddle: --model pso -D BROKEN expect: violated(assert)
// raddle: --model sc -D CARELESS expect: violated(assert)
// raddle: --model rc11 expect: holds
// raddle: --model rc11 -D BROKEN expect: violated(assert)
//
// A sequence lock: the writer makes the number odd while it writes, and a reader that saw an odd or a changed number
// reads again. Broken: nothing keeps the number and the data in order. Careless: the reader does not look twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define RELEASE memory_order_relaxed
#else
#define RELEASE memory_order_release
#endif

static atomic_uint sequence;
static atomic_int left, right;

static void *writer(void *unused)
{
    unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, s + 2, RELEASE);
    return NULL;
}

static void *reader(void *unused)
{
    unsigned before, after;
    int l, r;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        l = atomic_load_explicit(&left, memory_order_relaxed);
        r = atomic_load_explicit(&right, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
#ifdef CARELESS
        break;
#endif
    } while (before % 2 == 1 || before != after);
    assert(l == r);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
