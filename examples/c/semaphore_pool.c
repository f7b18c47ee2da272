// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
//
// Two permits for three users. Broken: the semaphore starts with three.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#ifdef BROKEN
#define PERMITS 3
#else
#define PERMITS 2
#endif

static sem_t permits;
static atomic_int inside;

static void *user(void *unused)
{
    sem_wait(&permits);
    int now = atomic_fetch_add(&inside, 1) + 1;
    assert(now <= 2);
    atomic_fetch_sub(&inside, 1);
    sem_post(&permits);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    sem_init(&permits, 0, PERMITS);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
