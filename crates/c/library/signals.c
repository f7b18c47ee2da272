/* Signals that a thread raises for itself, with handlers and masks. None comes from outside. */

struct handling { void *handler; char mask[128]; int flags; void *restorer; };

static void *handling[65];
static int handling_flags[65];
static _Thread_local unsigned long blocked, pending;

static void __raddle_fill(unsigned long *set, unsigned long with) {
    for (unsigned long i = 0; i < 128 / sizeof(long); i++)
        set[i] = with;
}

int sigemptyset(unsigned long *set) { __raddle_fill(set, 0); return 0; }
int sigfillset(unsigned long *set) { __raddle_fill(set, -1UL); return 0; }

int sigaddset(unsigned long *set, int signal) {
    set[(signal - 1) / (8 * sizeof(long))] |= 1UL << (signal - 1) % (8 * sizeof(long));
    return 0;
}

int sigdelset(unsigned long *set, int signal) {
    set[(signal - 1) / (8 * sizeof(long))] &= ~(1UL << (signal - 1) % (8 * sizeof(long)));
    return 0;
}

int sigismember(const unsigned long *set, int signal) {
    return set[(signal - 1) / (8 * sizeof(long))] >> (signal - 1) % (8 * sizeof(long)) & 1;
}

static int __raddle_refused(int signal) {
    if (signal >= 1 && signal <= 64)
        return 0;
    *__errno_location() = 22;
    return 1;
}

int sigaction(int signal, const struct handling *action, struct handling *old) {
    if (__raddle_refused(signal))
        return -1;
    void *before = __atomic_load_n(&handling[signal], 2);
    int flags = __atomic_load_n(&handling_flags[signal], 0);
    if (action != 0) {
        __atomic_store_n(&handling_flags[signal], action->flags, 0);
        __atomic_store_n(&handling[signal], action->handler, 3);
    }
    if (old != 0) {
        old->handler = before;
        __raddle_fill((unsigned long *)old->mask, 0);
        old->flags = flags;
    }
    return 0;
}

void *signal(int number, void *handler) {
    if (__raddle_refused(number))
        return (void *)-1L;
    __atomic_store_n(&handling_flags[number], 0, 0);
    return __atomic_exchange_n(&handling[number], handler, 4);
}

static void __raddle_deliver(int signal) {
    void *handler = __atomic_load_n(&handling[signal], 2);
    if (handler == (void *)1)
        return;
    if (handler == (void *)0) {
        /* A child, a continuation, urgent data, a window. */
        if (signal == 17 || signal == 18 || signal == 23 || signal == 28)
            return;
        if (signal == 6)
            abort();
        _exit(128 + signal);
    }
    int flags = __atomic_load_n(&handling_flags[signal], 0);
    unsigned long before = blocked;
    if (!(flags & 0x40000000))
        blocked |= 1UL << (signal - 1);
    if (flags & 4) {
        int info[32] = { signal };
        ((void (*)(int, void *, void *))handler)(signal, info, (void *)0);
    } else {
        ((void (*)(int))handler)(signal);
    }
    blocked = before;
}

static void __raddle_deliver_pending(void) {
    for (int signal = 1; (pending & ~blocked) != 0; signal++)
        if ((pending & ~blocked) >> (signal - 1) & 1) {
            pending &= ~(1UL << (signal - 1));
            __raddle_deliver(signal);
            signal = 0;
        }
}

int raise(int signal) {
    if (__raddle_refused(signal))
        return -1;
    if (blocked >> (signal - 1) & 1)
        pending |= 1UL << (signal - 1);
    else
        __raddle_deliver(signal);
    __raddle_deliver_pending();
    return 0;
}

int pthread_sigmask(int how, const unsigned long *set, unsigned long *old) {
    unsigned long before = blocked;
    if (set != 0) {
        unsigned long given = set[0];
        blocked = how == 0 ? before | given : how == 1 ? before & ~given : given;
    }
    if (old != 0) {
        __raddle_fill(old, 0);
        old[0] = before;
    }
    __raddle_deliver_pending();
    return 0;
}

int sigprocmask(int how, const unsigned long *set, unsigned long *old) { return pthread_sigmask(how, set, old); }

/* What is to be called when a thread ends by `pthread_exit` before the block is left. */

struct clean_up { void (*routine)(void *); void *argument; int run, kind; };

static _Thread_local struct clean_up *clean_ups[64];
static _Thread_local int clean_ups_open;

void __raddle_cleanup_push(struct clean_up *frame) {
    if (clean_ups_open >= 64)
        __raddle_misuse_memory("more than 64 open pthread_cleanup_push");
    clean_ups[clean_ups_open++] = frame;
}

void __raddle_cleanup_pop(struct clean_up *frame) {
    clean_ups_open--;
    if (frame->run)
        frame->routine(frame->argument);
}

void __pthread_cleanup_routine(struct clean_up *frame) { __raddle_cleanup_pop(frame); }

void __raddle_cleanup_all(void) {
    while (clean_ups_open > 0) {
        struct clean_up *frame = clean_ups[--clean_ups_open];
        frame->routine(frame->argument);
    }
}
