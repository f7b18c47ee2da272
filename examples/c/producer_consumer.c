// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc --spurious --loop-bound 2 expect: holds
// raddle: --model sc -D BROKEN --spurious --loop-bound 2 expect: violated(assert)
// raddle: --model sc -D FORGETFUL expect: violated(deadlock)
//
// A buffer of one place with condition variables. Broken: the consumer does not look again after it was woken, which a
// wake-up without a reason shows. Forgetful: the producer signals nobody.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int full, value;

static void *producer(void *unused)
{
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&mutex);
        while (full)
            pthread_cond_wait(&emptied, &mutex);
        value = i;
        full = 1;
#ifndef FORGETFUL
        pthread_cond_signal(&filled);
#endif
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consumer(void *unused)
{
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&mutex);
#ifdef BROKEN
        if (!full)
#else
        while (!full)
#endif
            pthread_cond_wait(&filled, &mutex);
        assert(full && value == i);
        full = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
