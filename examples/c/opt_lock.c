// raddle: --model sc --engine optimal -D N=1 expect: holds classes: 10
// raddle: --model sc --engine optimal -D N=2 expect: holds classes: 42
// raddle: --model sc --engine optimal -D N=3 expect: holds classes: 126
// raddle: --model sc --engine rf -D N=1 expect: holds classes: 7
// raddle: --model sc --engine rf -D N=2 expect: holds classes: 19
// raddle: --model sc --engine rf -D N=3 expect: holds classes: 31
// raddle: --model sc --engine dc --no race -D N=3 expect: holds classes: 31
//
// Optimistic locking: a thread leaves its mark and its message, and if the mark is still its own the message counts.
// There are 10, 42, 126, ... classes (each three times the last, minus the one before, plus 10), and 12N - 5 ways in which
// reads get their values: 7, 19, 31, ...
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

static atomic_int last_id = -1, x;

static void *worker(void *argument)
{
    int id = (int)(long)argument;
    for (int i = 0; i < N; i++) {
        atomic_store_explicit(&last_id, id, memory_order_relaxed);
        atomic_store_explicit(&x, 100 + id, memory_order_relaxed);
        if (atomic_load_explicit(&last_id, memory_order_relaxed) == id) {
            int message = atomic_load_explicit(&x, memory_order_relaxed);
            return (void *)(long)message;
        }
    }
    return (void *)-1L;
}

int main(void)
{
    pthread_t threads[2];
    for (long id = 0; id < 2; id++)
        pthread_create(&threads[id], NULL, worker, (void *)id);
    for (int id = 0; id < 2; id++)
        pthread_join(threads[id], NULL);
    return 0;
}
