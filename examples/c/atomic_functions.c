// raddle: --model sc expect: holds classes: 6
// raddle: --model tso expect: holds
// raddle: --32 expect: holds classes: 6
// raddle: --model sc -D BROKEN expect: violated(assert)
// raddle: --model tso -D BROKEN expect: violated(assert)
//
// Locks as the verification competition writes them: a function whose name starts with `__VERIFIER_atomic_` runs without
// interruption, and one that finds the lock taken gives up that run. Broken: looking and taking are two steps.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);

struct lock {
    int taken;
};

static struct lock guard;
static int counter, inside;

static void __VERIFIER_atomic_acquire(struct lock *lock)
{
    __VERIFIER_assume(lock->taken == 0);
    lock->taken = 1;
}

static void __VERIFIER_atomic_release(struct lock *lock)
{
    assert(lock->taken == 1);
    lock->taken = 0;
}

static int __VERIFIER_atomic_peek(struct lock *lock)
{
    return lock->taken;
}

static void __VERIFIER_atomic_take(struct lock *lock)
{
    lock->taken = 1;
}

static int __VERIFIER_atomic_enter(void)
{
    return ++inside;
}

static void __VERIFIER_atomic_leave(void)
{
    inside--;
}

static void *worker(void *lock)
{
#ifdef BROKEN
    __VERIFIER_assume(__VERIFIER_atomic_peek(lock) == 0);
    __VERIFIER_atomic_take(lock);
#else
    __VERIFIER_atomic_acquire(lock);
    (void)__VERIFIER_atomic_peek;
    (void)__VERIFIER_atomic_take;
#endif
    assert(__VERIFIER_atomic_enter() == 1);
    counter++;
    __VERIFIER_atomic_leave();
    __VERIFIER_atomic_release(lock);
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, worker, &guard);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(counter == 3);
    return 0;
}
