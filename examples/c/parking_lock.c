// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(deadlock)
//
// A lock that lets waiting threads sleep, in the manner of futexes: 0 free, 1 held, 2 held and somebody may sleep.
// Sleeping and waking is a condition variable that rechecks the word. Broken: the holder wakes nobody if the word was 1,
// and a sleeper does not set it to 2.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word;
static pthread_mutex_t bed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t alarm = PTHREAD_COND_INITIALIZER;
static int counter;

static void sleep_while(int value)
{
    pthread_mutex_lock(&bed);
    while (atomic_load(&word) == value)
        pthread_cond_wait(&alarm, &bed);
    pthread_mutex_unlock(&bed);
}

static void wake_one(void)
{
    pthread_mutex_lock(&bed);
    pthread_cond_signal(&alarm);
    pthread_mutex_unlock(&bed);
}

static void lock(void)
{
    int seen = 0;
    if (atomic_compare_exchange_strong(&word, &seen, 1))
        return;
#ifdef BROKEN
    for (;;) {
        seen = 0;
        if (atomic_compare_exchange_strong(&word, &seen, 1))
            return;
        sleep_while(1);
    }
#else
    while (atomic_exchange(&word, 2) != 0)
        sleep_while(2);
#endif
}

static void unlock(void)
{
    if (atomic_exchange(&word, 0) == 2)
        wake_one();
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
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
