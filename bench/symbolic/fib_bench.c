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

int i = 1, j = 1;

void *left(void *arg)
{
    for (int k = 0; k < N; k++)
        i = i + j;
    return 0;
}

void *right(void *arg)
{
    for (int k = 0; k < N; k++)
        j = j + i;
    return 0;
}

int main(void)
{
    int limit = 1, last = 1;
    for (int k = 0; k < 2 * N; k++) {
        int next = limit + last;
        limit = last;
        last = next;
    }
#ifdef WRONG
    last--;
#endif
    pthread_t one, two;
    pthread_create(&one, 0, left, 0);
    pthread_create(&two, 0, right, 0);
    int a = i, b = j;
    assert(a <= last && b <= last);
    return 0;
}
