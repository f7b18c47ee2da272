// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(deadlock)
//
// C11 threads, a mutex and a condition variable: one thread counts down, the other waits for zero. Broken: the wait is
// for a number that is skipped.
#include <assert.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static int count = 2;

static int counter(void *unused)
{
    for (int i = 0; i < 2; i++) {
        mtx_lock(&mutex);
        count--;
        cnd_broadcast(&changed);
        mtx_unlock(&mutex);
    }
    return 7;
}

static int waiter(void *unused)
{
    mtx_lock(&mutex);
#ifdef BROKEN
    while (count != 1)
#else
    while (count > 0)
#endif
        cnd_wait(&changed, &mutex);
    mtx_unlock(&mutex);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    int result;
    mtx_init(&mutex, mtx_plain);
    cnd_init(&changed);
    assert(thrd_create(&a, counter, NULL) == thrd_success);
    assert(thrd_create(&b, waiter, NULL) == thrd_success);
    thrd_join(a, &result);
    thrd_join(b, NULL);
    assert(result == 7);
    return 0;
}
