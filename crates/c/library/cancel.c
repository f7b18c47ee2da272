/* Cancellation: a thread that is asked to end does so where it comes to a cancellation point, or waits at one. */

static char cancelled[4096];
static _Thread_local int cancel_disabled, cancel_type;

int pthread_cancel(unsigned long thread) {
    __atomic_store_n(&cancelled[thread & 4095], 1, 0);
    return 0;
}

static int __raddle_is_cancelled(void) { return __atomic_load_n(&cancelled[__raddle_self() & 4095], 0); }

void pthread_testcancel(void) {
    if (__raddle_uses("pthread_cancel"))
        if (!cancel_disabled && __raddle_is_cancelled())
            pthread_exit((void *)-1L);
}

int pthread_setcancelstate(int state, int *old) {
    if (old != 0)
        *old = cancel_disabled;
    cancel_disabled = state;
    return 0;
}

int pthread_setcanceltype(int type, int *old) {
    if (old != 0)
        *old = cancel_type;
    cancel_type = type;
    return 0;
}

/* A wait that may be cancelled: whether this is the execution in which it is. */
int __raddle_cancel_while_waiting(void) {
    if (!__raddle_uses("pthread_cancel"))
        return 0;
    pthread_testcancel();
    return !cancel_disabled && __raddle_choose(0, 1) == 1;
}

/* That execution goes on only once the thread has been asked. */
void __raddle_await_cancellation(void) { __raddle_assume(__raddle_is_cancelled()); }

int __raddle_may_be_cancelled(void) {
    if (!__raddle_uses("pthread_cancel"))
        return 0;
    return !cancel_disabled;
}
