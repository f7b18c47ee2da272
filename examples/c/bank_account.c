// raddle: --model sc expect: holds
// raddle: --model sc -D BROKEN expect: violated(assert)
// raddle: --model sc -D HASTY expect: violated(deadlock)
//
// Transfers between two accounts, each with a lock of its own. Broken: balance and change are under the lock, but not
// together. Hasty: the two transfers take the locks in different orders.
#include <assert.h>
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[2] = { { PTHREAD_MUTEX_INITIALIZER, 100 }, { PTHREAD_MUTEX_INITIALIZER, 100 } };

static void transfer(struct account *from, struct account *to, long amount)
{
#ifdef BROKEN
    pthread_mutex_lock(&from->lock);
    long have = from->balance;
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_lock(&from->lock);
    from->balance = have - amount;
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_lock(&to->lock);
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
#else
    struct account *first = from, *second = to;
#ifndef HASTY
    if (first > second) {
        first = to;
        second = from;
    }
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
#endif
}

static void *there(void *unused)
{
    transfer(&accounts[0], &accounts[1], 30);
    return NULL;
}

static void *back(void *unused)
{
    transfer(&accounts[1], &accounts[0], 50);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, there, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(accounts[0].balance + accounts[1].balance == 200);
    return 0;
}
