// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model tso -D BROKEN expect: violated(assert)
// raddle: --model sc -D BROKEN expect: holds
// raddle: --model rc11 expect: holds
// raddle: --model rc11 -D BROKEN expect: violated(assert)
//
// The work-stealing deque of Chase and Lev on a fixed array: the owner pushes and takes at the bottom, a thief steals at
// the top. Every task is done once. Broken: without the fence between moving the bottom and reading the top, owner and
// thief can both take the last task under TSO.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 4
#define EMPTY (-1)
#define LOST (-2)

static atomic_int top, bottom;
static atomic_int tasks[SIZE];
static atomic_int done[3];

static void push(int task)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&tasks[b % SIZE], task, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, memory_order_release);
}

static int take(void)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t > b) {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        return EMPTY;
    }
    int task = atomic_load_explicit(&tasks[b % SIZE], memory_order_relaxed);
    if (t < b)
        return task;
    if (!atomic_compare_exchange_strong(&top, &t, t + 1))
        task = EMPTY;
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    return task;
}

static int steal(void)
{
    int t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return EMPTY;
    int task = atomic_load_explicit(&tasks[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&top, &t, t + 1))
        return LOST;
    return task;
}

static void work(int task)
{
    if (task >= 0)
        assert(atomic_fetch_add(&done[task], 1) == 0);
}

static void *owner(void *unused)
{
    push(1);
    push(2);
    work(take());
    work(take());
    return NULL;
}

static void *thief(void *unused)
{
    work(steal());
    work(steal());
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
