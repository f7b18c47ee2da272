// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(deadlock)
// raddle: --model sc -D TRY expect: holds
//
// Dining philosophers. Right: the last one takes the forks in the other order. Broken: all take the left one first. Try:
// who does not get the second fork puts the first one back and goes hungry.
#include <pthread.h>

#define N 3

static pthread_mutex_t forks[N] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static int meals[N];

static void *philosopher(void *argument)
{
    long me = (long)argument;
    pthread_mutex_t *first = &forks[me], *second = &forks[(me + 1) % N];
#if !defined(BROKEN) && !defined(TRY)
    if (me == N - 1) {
        pthread_mutex_t *other = first;
        first = second;
        second = other;
    }
#endif
    pthread_mutex_lock(first);
#ifdef TRY
    if (pthread_mutex_trylock(second) == 0) {
        meals[me]++;
        pthread_mutex_unlock(second);
    }
#else
    pthread_mutex_lock(second);
    meals[me]++;
    pthread_mutex_unlock(second);
#endif
    pthread_mutex_unlock(first);
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
