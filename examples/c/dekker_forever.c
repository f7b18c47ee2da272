// raddle: --model sc expect: holds
// raddle: --model tso expect: violated(assert)
// raddle: --model pso expect: violated(assert)
//
// Dekker's mutual exclusion of two threads that get in again and again. Executions do not end, and states repeat: under SC there are some hundred.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define RELAXED memory_order_relaxed

static atomic_int wants[2], turn, inside;

static void *worker(void *argument) {
    int me = (int)(long)argument, other = 1 - me;
    for (;;) {
        atomic_store_explicit(&wants[me], 1, RELAXED);
        while (atomic_load_explicit(&wants[other], RELAXED)) {
            if (atomic_load_explicit(&turn, RELAXED) != me) {
                atomic_store_explicit(&wants[me], 0, RELAXED);
                while (atomic_load_explicit(&turn, RELAXED) != me) {
                }
                atomic_store_explicit(&wants[me], 1, RELAXED);
            }
        }
        assert(atomic_fetch_add_explicit(&inside, 1, RELAXED) == 0);
        atomic_fetch_sub_explicit(&inside, 1, RELAXED);
        atomic_store_explicit(&turn, other, RELAXED);
        atomic_store_explicit(&wants[me], 0, RELAXED);
    }
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, worker, (void *)0);
    pthread_create(&second, NULL, worker, (void *)1);
    pthread_join(first, NULL);
    return 0;
}
