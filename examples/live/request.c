// raddle: --live expect: holds
// raddle: --live --model tso expect: holds
// raddle: --ltl "G (want -> F served)" expect: holds
// raddle: --ltl "G (want -> F served)" -D BUSY expect: violated(formula)
// raddle: --ltl "!served W want" expect: holds
// raddle: --ltl "G served <= want" expect: holds
//
// A client asks and waits for its answer. A server that is busy with itself may never look.

#include <pthread.h>
#include <stdatomic.h>

atomic_int want;
atomic_int served;
atomic_int noise;

static void *server(void *arg) {
    (void)arg;
    for (;;) {
#ifdef BUSY
        atomic_fetch_xor(&noise, 1);
        if (atomic_load(&noise) == 1)
            continue;
#endif
        if (atomic_load(&want))
            break;
    }
    atomic_store(&served, 1);
    return 0;
}

static void *client(void *arg) {
    (void)arg;
#ifdef BUSY
    for (;;)
        atomic_fetch_xor(&noise, 1), atomic_store(&want, 1);
#endif
    atomic_store(&want, 1);
    while (!atomic_load(&served))
        ;
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, server, 0);
    pthread_create(&other, 0, client, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
