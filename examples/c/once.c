// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(race)
//
// Initialisation by pthread_once. Broken: a plain flag in its place.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready, table[2];

static void initialise(void)
{
    table[0] = 1;
    table[1] = 2;
    ready++;
}

static void *user(void *unused)
{
#ifdef BROKEN
    if (!ready)
        initialise();
#else
    pthread_once(&once, initialise);
#endif
    assert(ready == 1 && table[0] + table[1] == 3);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
