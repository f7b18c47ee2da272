// raddle: --model sc --engine oc expect: violated(memory)
// raddle: --model sc --engine oc -D FIXED expect: holds
//
// A terminal: one thread parses the bytes that come in, ESC [ NUMBER m sets the colour, another one paints with it. Colours 30 to 37 are in the table. Of the 2^40 ways to fill five
// bytes one has the painter look behind the end of the table: ESC [ 3 8 m. Fixed, the parser looks at both ends of the range.

#include <pthread.h>

#ifndef N
#define N 5
#endif

unsigned char __VERIFIER_nondet_uchar(void);

static const int palette[8] = { 0, 1, 2, 4, 8, 16, 32, 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned colour;
static int painted;

enum state { TEXT, ESCAPE, NUMBER };

static void *parse(void *unused)
{
    enum state state = TEXT;
    unsigned number = 0;
    for (int i = 0; i < N; i++) {
        unsigned char byte = __VERIFIER_nondet_uchar();
        switch (state) {
        case TEXT:
            if (byte == 0x1b)
                state = ESCAPE;
            break;
        case ESCAPE:
            number = 0;
            state = byte == '[' ? NUMBER : TEXT;
            break;
        case NUMBER:
            if (byte >= '0' && byte <= '9') {
                number = number * 10 + (byte - '0');
                break;
            }
#ifdef FIXED
            if (byte == 'm' && number >= 30 && number <= 37) {
#else
            if (byte == 'm' && number >= 30) {
#endif
                pthread_mutex_lock(&lock);
                colour = number - 30;
                pthread_mutex_unlock(&lock);
            }
            state = TEXT;
        }
    }
    return 0;
}

static void *paint(void *unused)
{
    pthread_mutex_lock(&lock);
    painted += palette[colour];
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t parser, painter;
    pthread_create(&parser, 0, parse, 0);
    pthread_create(&painter, 0, paint, 0);
    pthread_join(parser, 0);
    pthread_join(painter, 0);
    return 0;
}
