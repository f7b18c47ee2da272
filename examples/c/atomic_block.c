// raddle: --model sc --no race expect: holds
// raddle: --model sc -D BROKEN --no race expect: violated(error)
//
// The vocabulary of the verification competition: an unknown input, an assumption, an atomic function, an error mark.
// Broken: the function is not atomic.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

static volatile int level;

#ifdef BROKEN
static void add(int n)
#define ADD add
#else
static void __VERIFIER_atomic_add(int n)
#define ADD __VERIFIER_atomic_add
#endif
{
    int old = level;
    level = old + n;
}

static void *worker(void *argument)
{
    ADD(*(int *)argument);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n > 1);
    pthread_create(&a, 0, worker, &n);
    pthread_create(&b, 0, worker, &n);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (level != 2 * n)
        reach_error();
    return 0;
}
