#ifndef RADDLE_RADDLE_H
#define RADDLE_RADDLE_H
/* A number from 0 to alternatives - 1, each with the same probability; the argument is a constant. For `raddle check --live`; every other command takes it for a choice. */
int raddle_random(int alternatives);

/* Threads that take messages out of a mailbox for ever, one after the other.

       static raddle_thread ui = RADDLE_QUEUE;
       raddle_post(&ui, clicked, &button);

   What a thread is known by is its address. */

typedef const int raddle_thread;

/* In which order messages are taken: the first that was posted, any, the last. */
#define RADDLE_QUEUE 0x6c6f6f70
#define RADDLE_BAG 0x6c6f6f71
#define RADDLE_STACK 0x6c6f6f72

/* The thread calls handler(arg) when it has taken the message. */
void raddle_post(raddle_thread *thread, void (*handler)(void *), void *arg);
#endif
