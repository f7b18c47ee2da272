// raddle: --engine cegar --model sc expect: holds
// raddle: --engine cegar --model sc -D WRONG expect: violated(assert)
//
// A parser of frames: any bytes, for ever, from one thread to the other by a slot. A frame is 0x7e, a length of 1 to 4, that many bytes, 0x7e.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

unsigned char __VERIFIER_nondet_uchar(void);

unsigned char slot;
atomic_int full;

void *receiver(void *arg)
{
    enum { IDLE, LENGTH, BODY, END } state = IDLE;
    unsigned char left = 0;
    unsigned char buffer[4];
    for (;;) {
        while (!atomic_load(&full))
            ;
        unsigned char byte = slot;
        atomic_store(&full, 0);
        switch (state) {
        case IDLE:
            state = byte == 0x7e ? LENGTH : IDLE;
            break;
        case LENGTH:
            left = byte;
#ifdef WRONG
            state = byte >= 1 && byte <= 5 ? BODY : IDLE;
#else
            state = byte >= 1 && byte <= 4 ? BODY : IDLE;
#endif
            break;
        case BODY:
            assert(left >= 1 && left <= 4);
            buffer[left - 1] = byte;
            left--;
            if (left == 0)
                state = END;
            break;
        case END:
            state = IDLE;
            break;
        }
    }
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, receiver, 0);
    for (;;) {
        while (atomic_load(&full))
            ;
        slot = __VERIFIER_nondet_uchar();
        atomic_store(&full, 1);
    }
}
