// raddle: --engine cegar --model sc --no deadlock expect: holds
// raddle: --engine cegar --model sc --no deadlock -D WRONG expect: violated(assert)
//
// Deposits and withdrawals of any amount, for ever. The account is never overdrawn.
#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int balance;

void *withdrawals(void *arg)
{
    for (;;) {
        int amount = __VERIFIER_nondet_int();
        if (amount <= 0)
            continue;
        pthread_mutex_lock(&lock);
        int enough = balance >= amount;
#ifdef WRONG
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        if (enough)
            balance -= amount;
        assert(balance >= 0);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, 0, withdrawals, 0);
    for (;;) {
        int amount = __VERIFIER_nondet_int();
        pthread_mutex_lock(&lock);
        if (amount > 0 && balance <= 1000000 && amount <= 1000000)
            balance += amount;
#ifdef WRONG
        if (balance > 0 && amount == -1)
            balance -= 1;
#endif
        pthread_mutex_unlock(&lock);
    }
}
