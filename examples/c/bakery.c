// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model tso -D RELAXED expect: violated(race)
// raddle: --model sc -D BROKEN expect: violated(race)
//
// Lamport's bakery for two threads. Broken: a thread does not say that it is choosing its number, so two threads can
// draw the same one and one of them miss the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 2
#ifdef RELAXED
#define ORDER memory_order_release
#else
#define ORDER memory_order_seq_cst
#endif

static atomic_int choosing[N], number[N];
static int counter;

static void lock(int me)
{
#ifndef BROKEN
    atomic_store_explicit(&choosing[me], 1, ORDER);
#endif
    int most = 0;
    for (int i = 0; i < N; i++) {
        int seen = atomic_load(&number[i]);
        most = seen > most ? seen : most;
    }
    atomic_store_explicit(&number[me], most + 1, ORDER);
#ifndef BROKEN
    atomic_store_explicit(&choosing[me], 0, ORDER);
#endif
    for (int other = 0; other < N; other++) {
        if (other == me)
            continue;
#ifndef BROKEN
        while (atomic_load(&choosing[other]))
            ;
#endif
        for (;;) {
            int theirs = atomic_load(&number[other]);
            if (theirs == 0 || theirs > most + 1 || (theirs == most + 1 && other > me))
                break;
        }
    }
}

static void *worker(void *argument)
{
    int me = (int)(long)argument;
    lock(me);
    counter++;
    atomic_store_explicit(&number[me], 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    assert(counter == N);
    return 0;
}
