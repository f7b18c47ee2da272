// raddle: --only error expect: holds
// raddle: -D WRONG --only error expect: violated(error)
//
// The store buffer of an x86 processor, written out as competition tasks do: a write goes to a buffer of one, atomic sections say when it leaves that. Right: who has seen the second write sees the first. Wrong: both
// threads read before either write has left its buffer.
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

static int x, y, a, b, done;
static int kept[2];
static _Bool used[2];

static void leave(int who, int *at)
{
    __VERIFIER_atomic_begin();
    if (used[who] && __VERIFIER_nondet_bool()) {
        *at = kept[who];
        used[who] = 0;
    }
    __VERIFIER_atomic_end();
}

static void put(int who, int value)
{
    __VERIFIER_atomic_begin();
    kept[who] = value;
    used[who] = 1;
    __VERIFIER_atomic_end();
}

static int get(int who, const int *at, _Bool own)
{
    __VERIFIER_atomic_begin();
    int value = own && used[who] ? kept[who] : *at;
    __VERIFIER_atomic_end();
    return value;
}

static void drain(int who, int *at)
{
    __VERIFIER_atomic_begin();
    if (used[who])
        *at = kept[who];
    used[who] = 0;
    done++;
    __VERIFIER_atomic_end();
}

static void *one(void *unused)
{
    put(0, 1);
    leave(0, &x);
#ifdef WRONG
    a = get(0, &y, 0);
    drain(0, &x);
#else
    drain(0, &x);
    put(0, 1);
    leave(0, &y);
    drain(0, &y);
#endif
    return 0;
}

static void *other(void *unused)
{
#ifdef WRONG
    put(1, 1);
    leave(1, &y);
    b = get(1, &x, 0);
    drain(1, &y);
#else
    a = get(1, &y, 0);
    b = get(1, &x, 0);
#endif
    return 0;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, other, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
#ifdef WRONG
    if (a == 0 && b == 0)
#else
    if (a == 1 && b == 0)
#endif
        reach_error();
    return 0;
}
