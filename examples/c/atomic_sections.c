// raddle: --model sc expect: holds classes: 6
// raddle: --model tso expect: holds
// raddle: --model pso expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
// raddle: --model tso -D BROKEN expect: violated(assert)
//
// Sections that are not interleaved with other threads, in the words of the verification competition: three threads move money
// between two accounts, and an auditor who looks at both in one section never sees any missing. Broken: the two halves of
// a transfer are sections of their own.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int here = 10, there;

static void *transfer(void *amount)
{
    __VERIFIER_atomic_begin();
    here -= (int)(long)amount;
#ifdef BROKEN
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
#endif
    there += (int)(long)amount;
    __VERIFIER_atomic_end();
    return 0;
}

static void *audit(void *unused)
{
    __VERIFIER_atomic_begin();
    int sum = here + there;
    __VERIFIER_atomic_end();
    assert(sum == 10);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], 0, transfer, (void *)3);
    pthread_create(&threads[1], 0, transfer, (void *)4);
    pthread_create(&threads[2], 0, audit, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(here == 3 && there == 7);
    return 0;
}
