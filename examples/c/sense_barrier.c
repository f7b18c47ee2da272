// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(deadlock)
//
// A barrier that can be used again: the last thread to arrive turns the sense. Broken: it lowers the count after it has
// let the others go, who may have arrived at the next round by then.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 2
#define ROUNDS 2

static atomic_int missing = N, sense;
static atomic_int arrived[ROUNDS];

static void wait_for_all(int *mine)
{
    *mine = !*mine;
    if (atomic_fetch_sub(&missing, 1) == 1) {
#ifdef BROKEN
        atomic_store(&sense, *mine);
        atomic_store(&missing, N);
#else
        atomic_store(&missing, N);
        atomic_store(&sense, *mine);
#endif
        return;
    }
    while (atomic_load(&sense) != *mine)
        ;
}

static void *worker(void *unused)
{
    int mine = 0;
    for (int round = 0; round < ROUNDS; round++) {
        atomic_fetch_add(&arrived[round], 1);
        wait_for_all(&mine);
        assert(atomic_load(&arrived[round]) == N);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
