// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc --nondet 2..3 expect: holds
// raddle: --model sc -D BROKEN --no race expect: violated(error)
//
// The vocabulary of the verification competition: unknown inputs, an assumption, an error mark. Broken: without the lock
// an addition gets lost.
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int level;

static void *worker(void *argument)
{
#ifndef BROKEN
    pthread_mutex_lock(&mutex);
#endif
    level += *(int *)argument;
#ifndef BROKEN
    pthread_mutex_unlock(&mutex);
#endif
    return 0;
}

int main(void)
{
    pthread_t a, b;
    int n = __VERIFIER_nondet_int();
    _Bool both = __VERIFIER_nondet_bool();
    __VERIFIER_assume(n > 1 && n < 5);
    pthread_create(&a, 0, worker, &n);
    if (both)
        pthread_create(&b, 0, worker, &n);
    pthread_join(a, 0);
    if (both)
        pthread_join(b, 0);
    if (level != (both ? 2 : 1) * n)
        reach_error();
    return 0;
}
