// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(race)
//
// Readers and writers with semaphores: the first reader locks the writers out, the last one lets them in. Broken: the
// readers' count is not protected, so two of them can both think they are not the first.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t room;
static pthread_mutex_t turnstile = PTHREAD_MUTEX_INITIALIZER;
static int readers, data;

static void guard(int on)
{
#ifndef BROKEN
    if (on)
        pthread_mutex_lock(&turnstile);
    else
        pthread_mutex_unlock(&turnstile);
#endif
}

static void *reader(void *unused)
{
    guard(1);
    if (++readers == 1)
        sem_wait(&room);
    guard(0);
    int seen = data;
    assert(seen == 0 || seen == 1);
    guard(1);
    if (--readers == 0)
        sem_post(&room);
    guard(0);
    return NULL;
}

static void *writer(void *unused)
{
    sem_wait(&room);
    data = 1;
    sem_post(&room);
    return NULL;
}

int main(void)
{
    sem_init(&room, 0, 1);
    pthread_t a, b, c;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_create(&c, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    sem_destroy(&room);
    return 0;
}
