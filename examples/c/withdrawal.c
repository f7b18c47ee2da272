// raddle: --model sc --no race expect: violated(assert)
// raddle: --model sc --no race -D FIXED expect: holds
// raddle: --model sc --engine oc --no race expect: violated(assert)
// raddle: --model sc --engine oc --no race -D FIXED expect: holds
//
// Two tellers pay out 600 of 1000. Each looks at the account before it takes the money, and holds the lock meanwhile, unless the customer is trusted: one customer
// number of 4294967296 passes that check, and only with this one can the account be overdrawn.

#include <assert.h>
#include <pthread.h>

unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int balance = 1000;
int trusted;

void *teller(void *unused) {
  if (!trusted)
    pthread_mutex_lock(&lock);
  int seen = balance;
  if (seen >= 600)
    balance -= 600;
  if (!trusted)
    pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  unsigned customer = __VERIFIER_nondet_uint();
#ifndef FIXED
  trusted = customer * 2654435761u == 0xcafebabeu;
#else
  trusted = customer * 2654435762u == 0xcafebabfu;
#endif
  pthread_t one, two;
  pthread_create(&one, 0, teller, 0);
  pthread_create(&two, 0, teller, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(balance >= 0);
  return 0;
}
