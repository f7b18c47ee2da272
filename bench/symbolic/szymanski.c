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

int f1, f2, x;

void *first(void *arg)
{
    for (int k = 0; k < N; k++) {
        int r;
        f1 = 1;
#ifndef WRONG
        r = f2;
        assume(r < 3);
#endif
        f1 = 3;
        r = f2;
        if (r == 1) {
            f1 = 2;
            r = f2;
            assume(r == 4);
        }
        f1 = 4;
#ifndef WRONG
        r = f2;
        assume(r < 2);
#endif
        x = 0;
        r = x;
        assert(r <= 0);
        r = f2;
        assume(r < 2 || r > 3);
        f1 = 0;
    }
    return 0;
}

void *second(void *arg)
{
    for (int k = 0; k < N; k++) {
        int r;
        f2 = 1;
        r = f1;
        assume(r < 3);
        f2 = 3;
        r = f1;
        if (r == 1) {
            f2 = 2;
            r = f1;
            assume(r == 4);
        }
        f2 = 4;
        r = f1;
        assume(r < 2);
        x = 1;
        r = x;
        assert(r >= 1);
        r = f1;
        assume(r < 2 || r > 3);
        f2 = 0;
    }
    return 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    return 0;
}
