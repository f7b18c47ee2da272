// A mutex on a futex with three states: free, held, held and somebody sleeps (Drepper 2011). The broken one forgets that somebody sleeps.
// raddle: -D N=2 expect: holds
// raddle: -D N=2 -D BROKEN=1 expect: violated(deadlock)
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef N
#define N 2
#endif

static atomic_int state;
static int counter;

static void lock(void)
{
    int found = 0;
    if (atomic_compare_exchange_strong(&state, &found, 1))
        return;
#ifdef BROKEN
    while (found != 0) {
        syscall(SYS_futex, &state, FUTEX_WAIT, 1, NULL, NULL, 0);
        found = atomic_exchange(&state, 1);
    }
#else
    if (found != 2)
        found = atomic_exchange(&state, 2);
    while (found != 0) {
        syscall(SYS_futex, &state, FUTEX_WAIT, 2, NULL, NULL, 0);
        found = atomic_exchange(&state, 2);
    }
#endif
}

static void unlock(void)
{
    if (atomic_fetch_sub(&state, 1) != 1) {
        atomic_store(&state, 0);
        syscall(SYS_futex, &state, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static void *worker(void *unused)
{
    lock();
    counter++;
    unlock();
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
