// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(race)
//
// A reader-writer lock of a mutex and a condition variable, for ever: readers share it, a writer has it alone.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int readers, writing;
int data;

void *reader(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
#ifdef WRONG
        if (writing)
#else
        while (writing)
#endif
            pthread_cond_wait(&changed, &lock);
        readers++;
        pthread_mutex_unlock(&lock);

        int seen = data;
        assert(seen == 0 || seen == 1);

        pthread_mutex_lock(&lock);
        readers--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, 0, reader, 0);
    for (;;) {
        pthread_mutex_lock(&lock);
#ifdef WRONG
        while (writing)
#else
        while (readers > 0 || writing)
#endif
            pthread_cond_wait(&changed, &lock);
        writing = 1;
        pthread_mutex_unlock(&lock);

        data = 1 - data;

        pthread_mutex_lock(&lock);
        writing = 0;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}
