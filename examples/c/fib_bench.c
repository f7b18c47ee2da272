// raddle: --model sc -D N=1 --engine optimal expect: holds classes: 11
// raddle: --model sc -D N=2 --engine optimal expect: holds classes: 140
// raddle: --model sc -D N=2 -D SMALL expect: violated(assert)
// raddle: --model sc -D N=1 -D PLAIN expect: violated(race)
//
// Two threads compute Fibonacci numbers together while main looks on without waiting for them: it never sees one
// that is too large. With plain integers instead of atomics the threads race.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif
#ifdef SMALL
#define LIMIT 8
#else
#define LIMIT 144
#endif
#ifdef PLAIN
static int i = 1, j = 1;
#define READ(x) (x)
#define WRITE(x, value) ((x) = (value))
#else
static atomic_int i = 1, j = 1;
#define READ(x) atomic_load_explicit(&x, memory_order_relaxed)
#define WRITE(x, value) atomic_store_explicit(&x, value, memory_order_relaxed)
#endif

static void *left(void *unused)
{
    for (int turn = 0; turn < N; turn++)
        WRITE(i, READ(i) + READ(j));
    return NULL;
}

static void *right(void *unused)
{
    for (int turn = 0; turn < N; turn++)
        WRITE(j, READ(j) + READ(i));
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    int seen_i = READ(i);
    int seen_j = READ(j);
    assert(seen_i < LIMIT);
    assert(seen_j < LIMIT);
    return 0;
}
