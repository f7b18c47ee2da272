// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG -D SIZE=3 expect: violated(assert)
//
// A pool of connections: taken and given back for ever, by whoever wants one. Never are more out than there are.
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

#ifndef SIZE
#define SIZE 1000
#endif

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int out;

void *client(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        if (__VERIFIER_nondet_bool()) {
#ifdef WRONG
            if (out <= SIZE) {
#else
            if (out < SIZE) {
#endif
                out++;
            }
        } else if (out > 0) {
            out--;
        }
        assert(out >= 0 && out <= SIZE);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, client, 0);
    client(0);
}
