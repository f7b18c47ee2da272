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

// Who waits looks twice at most.
int f1, f2, turn, x;

void *first(void *arg)
{
    for (int k = 0; k < N; k++) {
        f1 = 1;
#ifdef WRONG
        int r = 0;
#else
        int r = f2;
#endif
        for (int look = 0; look < 2 && r >= 1; look++) {
            int t = turn;
            if (t != 0) {
                f1 = 0;
                t = turn;
                assume(t == 0);
                f1 = 1;
            }
            r = f2;
        }
        assume(r < 1);
        x = 0;
        r = x;
        assert(r <= 0);
        turn = 1;
        f1 = 0;
    }
    return 0;
}

void *second(void *arg)
{
    for (int k = 0; k < N; k++) {
        f2 = 1;
        int r = f1;
        for (int look = 0; look < 2 && r >= 1; look++) {
            int t = turn;
            if (t != 1) {
                f2 = 0;
                t = turn;
                assume(t == 1);
                f2 = 1;
            }
            r = f1;
        }
        assume(r < 1);
        x = 1;
        r = x;
        assert(r >= 1);
        turn = 0;
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
