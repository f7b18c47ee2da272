// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(race)
// raddle: --model sc -D WRONG expect: violated(lock)
//
// A table behind a POSIX reader-writer lock. Broken: the writer only takes it for reading. Wrong: it gives back a lock
// it does not hold.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct { int key, value; } entry = { 1, 10 };

static void *reader(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    assert(entry.value == entry.key * 10);
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *writer(void *unused)
{
#ifdef BROKEN
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    entry.key = 2;
    entry.value = 20;
    pthread_rwlock_unlock(&lock);
#ifdef WRONG
    pthread_rwlock_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_create(&c, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
