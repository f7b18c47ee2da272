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
#define lock()
#define unlock()
#else
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define lock() pthread_mutex_lock(&m)
#define unlock() pthread_mutex_unlock(&m)
#endif
extern int __VERIFIER_nondet_int(void);

int items[16];
int top;

void *pusher(void *arg)
{
    for (int k = 0; k < N; k++) {
        int v = __VERIFIER_nondet_int();
        lock();
        int t = top;
        assert(t < 16);
        items[t] = v;
        top = t + 1;
        unlock();
    }
    return 0;
}

void *popper(void *arg)
{
    for (int k = 0; k < N; k++) {
        lock();
        int t = top;
        if (t > 0) {
            int again = top;
            assert(again >= t);
            int v = items[again - 1];
            top = again - 1;
        }
        unlock();
    }
    return 0;
}

int main(void)
{
    pthread_t one, two, three;
    pthread_create(&one, 0, pusher, 0);
    pthread_create(&two, 0, popper, 0);
    pthread_create(&three, 0, popper, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
