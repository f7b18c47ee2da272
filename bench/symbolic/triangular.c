// The family of the same name in .rdl, for tools that read C. -DN is the number of turns, -DWRONG the form that is wrong.
#include <assert.h>
#include <pthread.h>

#ifdef __CPROVER__
#define assume(c) __CPROVER_assume(c)
#else
extern void __VERIFIER_assume(int);
#define assume(c) __VERIFIER_assume(c)
#endif
#ifndef N
#define N 3
#endif

#ifdef WRONG
#define LIMIT (2 * N + 5)
#else
#define LIMIT (2 * N + 6)
#endif

int i = 3, j = 6;

void *left(void *arg)
{
    for (int k = 0; k < N; k++)
        i = j + 1;
    return 0;
}

void *right(void *arg)
{
    for (int k = 0; k < N; k++)
        j = i + 1;
    return 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    int a = i, b = j;
    assert(a <= LIMIT && b <= LIMIT);
    return 0;
}
