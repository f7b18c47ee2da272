/* Futexes: threads wait for a word to change, first come, first woken. A wait ends when it is woken, or if the word is another one; with a time-out, also whenever
   time is up. Whoever is woken comes after whoever woke it, as with any lock of the system. */

struct __raddle_sleeper {
    int *word, woken;
    struct __raddle_sleeper *next;
};

static int futex_lock;
static long long futex_wakes;
static struct __raddle_sleeper *futex_sleepers;

long __raddle_futex_wait(int *word, int value, const void *timeout) {
    __raddle_lock(&futex_lock);
    if (__atomic_load_n(word, 5) != value) {
        __raddle_unlock(&futex_lock);
        *__errno_location() = EAGAIN;
        return -1;
    }
    if (timeout && __raddle_choose(0, 1) == 1) {
        __raddle_unlock(&futex_lock);
        *__errno_location() = ETIMEDOUT;
        return -1;
    }
    struct __raddle_sleeper *self = (struct __raddle_sleeper *)__raddle_alloc(sizeof *self);
    self->word = word;
    self->woken = 0;
    self->next = 0;
    struct __raddle_sleeper **last = &futex_sleepers;
    while (*last)
        last = &(*last)->next;
    *last = self;
    while (!self->woken) {
        if (timeout)
            __raddle_cond_timedwait(&futex_wakes, &futex_lock);
        else
            __raddle_cond_wait(&futex_wakes, &futex_lock);
    }
    __raddle_free(self);
    __raddle_unlock(&futex_lock);
    return 0;
}

long __raddle_futex_wake(int *word, int most) {
    long woken = 0;
    __raddle_lock(&futex_lock);
    struct __raddle_sleeper **at = &futex_sleepers;
    while (*at && woken < most) {
        struct __raddle_sleeper *sleeper = *at;
        if (sleeper->word == word) {
            *at = sleeper->next;
            sleeper->woken = 1;
            woken++;
        } else {
            at = &sleeper->next;
        }
    }
    if (woken)
        __raddle_cond_broadcast(&futex_wakes);
    __raddle_unlock(&futex_lock);
    return woken;
}

/* Other calls fail as those do that a system does not have. */
long syscall(long number, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, number);
    if (number == (sizeof(long) == 8 ? 202 : 240)) {
        int *word = __builtin_va_arg(list, int *);
        int operation = __builtin_va_arg(list, int) & ~(128 | 256);
        int value = __builtin_va_arg(list, int);
        if (operation == 0 || operation == 9)
            return __raddle_futex_wait(word, value, __builtin_va_arg(list, const void *));
        if (operation == 1 || operation == 10)
            return __raddle_futex_wake(word, value);
    }
    if (number == (sizeof(long) == 8 ? 186 : 224))
        return (long)__raddle_self();
    if (number == (sizeof(long) == 8 ? 24 : 158))
        return 0;
    if (number == (sizeof(long) == 8 ? 324 : 375)) {
        __atomic_thread_fence(5);
        return 0;
    }
    *__errno_location() = 38;
    return -1;
}
