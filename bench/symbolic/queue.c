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

int items[16], sent[16];
int head, tail;

void *producer(void *arg)
{
    for (int k = 0; k < N; k++) {
        int v = __VERIFIER_nondet_int();
        sent[k] = v;
        lock();
        int t = tail;
        tail = t + 1;
        items[t] = v;
        unlock();
    }
    return 0;
}

void *consumer(void *arg)
{
    int next = 0;
    for (int k = 0; k < N; k++) {
        lock();
        int h = head, t = tail;
        if (h < t) {
            int v = items[h], w = sent[next];
            assert(v == w);
            head = h + 1;
            next++;
        }
        unlock();
    }
    return 0;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, producer, 0);
    pthread_create(&two, 0, consumer, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
