// raddle: expect: holds
// raddle: -D BROKEN expect: violated(assert)
//
// A lock that is released wherever its block is left: by break, by return, at its end (`__attribute__((cleanup))` of gcc and clang). Two threads take numbers until
// there are none left. Broken: the number is taken after the block.
#include <assert.h>
#include <pthread.h>

#define CONCAT(a, b) a##b
#define NAMED(line) CONCAT(guard, line)
#define SCOPED_LOCK(mutex) pthread_mutex_t *NAMED(__LINE__) __attribute__((cleanup(unlock))) = lock(mutex)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int left = 2, taken[3];

static pthread_mutex_t *lock(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    return mutex;
}

static void unlock(pthread_mutex_t **guard) {
    pthread_mutex_unlock(*guard);
}

static int take(void) {
    int number;
    do {
        SCOPED_LOCK(&mutex);
        if (left == 0)
            return 0;
        number = left;
#ifndef BROKEN
        left--;
#endif
    } while (0);
#ifdef BROKEN
    SCOPED_LOCK(&mutex);
    left = number - 1;
#endif
    return number;
}

static void *worker(void *unused) {
    for (;;) {
        int number = take();
        if (number == 0)
            break;
        SCOPED_LOCK(&mutex);
        if (taken[number]++ == 0)
            continue;
        assert(!"a number is taken once");
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    worker(0);
    pthread_join(thread, 0);
    assert(pthread_mutex_trylock(&mutex) == 0);
    assert(taken[1] == 1 && taken[2] == 1);
    return 0;
}
