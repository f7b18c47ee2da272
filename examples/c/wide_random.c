// raddle: expect: holds
// raddle: --model tso expect: holds
// raddle: -D BROKEN expect: violated(race)
// raddle: -D BROKEN --no race expect: violated(assert)
//
// Random numbers from a state of 128 bits that threads share: each step multiplies it, and what is handed out mixes its halves. Under the
// lock two threads get different numbers, and the state makes two steps. Broken: a state without a lock is a race, and both may get the same number.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

typedef unsigned __int128 wide;

#define FACTOR (((wide)0x2360ed051fc65da4ULL << 64) | 0x4385df649fccf645ULL)

static wide state = ((wide)0x853c49e6748fea9bULL << 64) + 0xda3e39cb94b95bdbULL;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t next(void)
{
#ifndef BROKEN
    pthread_mutex_lock(&mutex);
#endif
    state *= FACTOR;
    wide now = state;
#ifndef BROKEN
    pthread_mutex_unlock(&mutex);
#endif
    unsigned turn = (unsigned)(now >> 122);
    uint64_t mixed = (uint64_t)(now >> 64) ^ (uint64_t)now;
    return turn == 0 ? mixed : mixed >> turn | mixed << (64 - turn);
}

static void *drawer(void *into)
{
    *(uint64_t *)into = next();
    return 0;
}

int main(void)
{
    uint64_t drawn[2];
    pthread_t threads[2];
    wide twice = state * FACTOR * FACTOR;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, drawer, &drawn[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(drawn[0] != drawn[1]);
    assert(state == twice);
    return 0;
}
