// raddle: --model sc --engine optimal expect: holds classes: 3
// raddle: --model tso expect: violated(assert)
// raddle: --model pso expect: violated(assert)
// raddle: --model tso -D FENCE --engine optimal expect: holds classes: 3
// raddle: --model tso -D COUNT --engine optimal expect: holds classes: 4
// raddle: --model sc -D COUNT --engine optimal expect: holds classes: 3
//
// Store buffering: each thread announces itself and looks for the other. With store buffers both can look before
// either announcement has arrived.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void fence(void)
{
#ifdef FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static void *left(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    fence();
    return (void *)(long)atomic_load_explicit(&y, memory_order_relaxed);
}

static void *right(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    fence();
    return (void *)(long)atomic_load_explicit(&x, memory_order_relaxed);
}

int main(void)
{
    pthread_t a, b;
    void *saw_y, *saw_x;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, &saw_y);
    pthread_join(b, &saw_x);
#ifndef COUNT
    assert(saw_y || saw_x);
#endif
    return 0;
}

// raddle: --model rc11 expect: violated(assert)
// raddle: --model rc11 -D FENCE --engine optimal expect: holds classes: 3
