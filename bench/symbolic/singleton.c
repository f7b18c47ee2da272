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
    v = calloc(1, 1);
    return 0;
}

void *x(void *arg)
{
    *v = 'X';
    return 0;
}

void *y(void *arg)
{
    *v = 'Y';
    return 0;
}

int main(void)
{
    pthread_t t, a, b;
    pthread_create(&t, 0, maker, 0);
    pthread_join(t, 0);
    pthread_create(&a, 0, x, 0);
    for (int k = 0; k < N; k++)
        pthread_create(&b, 0, y, 0);
    pthread_join(a, 0);
    char r = *v;
#ifdef WRONG
    assert(r == 'X');
#else
    assert(r == 'X' || r == 'Y');
#endif
    return 0;
}
