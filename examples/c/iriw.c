// raddle: --model sc --engine optimal expect: holds classes: 15
// raddle: --model tso --engine optimal expect: holds classes: 15
// raddle: --model pso --engine optimal expect: holds classes: 15
// raddle: --model rc11 expect: violated(assert)
// raddle: --model ra expect: violated(assert)
// raddle: --model sra expect: violated(assert)
// raddle: --model wra expect: violated(assert)
//
// Independent reads of independent writes: two readers never disagree about the order of two writes, not with store
// buffers either.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *write_x(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return NULL;
}

static void *write_y(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return NULL;
}

static void *read_xy(void *unused)
{
    int a = atomic_load_explicit(&x, memory_order_relaxed);
    int b = atomic_load_explicit(&y, memory_order_relaxed);
    return (void *)(long)(a && !b);
}

static void *read_yx(void *unused)
{
    int a = atomic_load_explicit(&y, memory_order_relaxed);
    int b = atomic_load_explicit(&x, memory_order_relaxed);
    return (void *)(long)(a && !b);
}

int main(void)
{
    pthread_t t[4];
    void *x_first, *y_first;
    pthread_create(&t[0], NULL, write_x, NULL);
    pthread_create(&t[1], NULL, write_y, NULL);
    pthread_create(&t[2], NULL, read_xy, NULL);
    pthread_create(&t[3], NULL, read_yx, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    pthread_join(t[2], &x_first);
    pthread_join(t[3], &y_first);
    assert(!(x_first && y_first));
    return 0;
}
