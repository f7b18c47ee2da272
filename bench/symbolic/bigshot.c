// The family of the same name in .rdl, for tools that read C. -DN is the number of turns, -DWRONG the form that is wrong.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef __CPROVER__
#define assume(c) __CPROVER_assume(c)
#else
extern void __VERIFIER_assume(int);
#define assume(c) __VERIFIER_assume(c)
#endif
#ifndef N
#define N 3
#endif

char *v;

void *maker(void *arg)
{
    v = calloc(64, 1);
    return 0;
}

void *filler(void *arg)
{
    char *p = v;
    if (p)
        for (int k = 0; k < N; k++)
            p[k] = 'B';
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, maker, 0);
#ifndef WRONG
    pthread_join(a, 0);
#endif
    pthread_create(&b, 0, filler, 0);
    pthread_join(b, 0);
#ifdef WRONG
    pthread_join(a, 0);
#endif
    char r = v[0];
    assert(r == 'B');
    return 0;
}
