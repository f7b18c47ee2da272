/* The operations everything else here is written over; each is one instruction of the program representation. */

int __raddle_uses(const char *function);
int __raddle_spurious(void);
int __raddle_choose(int low, int high);
void __raddle_assume(int condition);
unsigned long long __raddle_spawn(void *(*function)(void *), void *argument);
void *__raddle_join(unsigned long long thread);
int __raddle_join_int(unsigned long long thread);
unsigned long long __raddle_self(void);
void *__raddle_alloc(unsigned long long size);
void *__raddle_zalloc(unsigned long long size);
void __raddle_free(void *object);
void __raddle_lock(void *mutex);
void __raddle_lock_recursive(void *mutex);
int __raddle_trylock(void *mutex);
int __raddle_trylock_recursive(void *mutex);
void __raddle_unlock(void *mutex);
void __raddle_rdlock(void *lock);
void __raddle_wrlock(void *lock);
int __raddle_tryrdlock(void *lock);
int __raddle_trywrlock(void *lock);
void __raddle_rwunlock(void *lock);
void __raddle_cond_wait(void *cond, void *mutex);
/* There is another way on, by which time is up. */
void __raddle_cond_timedwait(void *cond, void *mutex);
/* Errors of the program under test. */
void __raddle_misuse_memory(const char *what);
void __raddle_misuse_lock(const char *what);
/* Out of the function, and out of those that called it. */
void __raddle_unwind(void);
void pthread_exit(void *result);
void pthread_testcancel(void);
int __raddle_cancel_while_waiting(void);
void __raddle_await_cancellation(void);
int __raddle_may_be_cancelled(void);
/* What is there. If nothing was ever written, a byte without a value, which may only be moved on, or 0. */
char __raddle_peek8(const void *at);
unsigned long long __raddle_peek64(const void *at);
void __raddle_cond_signal(void *cond);
void __raddle_cond_broadcast(void *cond);
void __raddle_barrier_init(void *barrier, unsigned count);
int __raddle_barrier_wait(void *barrier);
void __raddle_sem_wait(void *sem);
int __raddle_sem_trywait(void *sem);
void __raddle_sem_post(void *sem);
void __raddle_destroy32(void *object);
void __raddle_destroy64(void *object);
void *memcpy(void *to, const void *from, unsigned long size);
void exit(int status);
void _exit(int status);
void abort(void);
int *__errno_location(void);

/* Bits. The width is that of the argument's C type. */

int __raddle_popcount(unsigned long long value, int width) {
    int count = 0;
    while (value != 0) {
        value &= value - 1;
        count++;
    }
    return count;
}

int __raddle_clz(unsigned long long value, int width) {
    int count = width;
    while (value != 0) {
        value >>= 1;
        count--;
    }
    return count;
}

int __raddle_ctz(unsigned long long value, int width) {
    int count = 0;
    if (value == 0)
        return width;
    while ((value & 1) == 0) {
        value >>= 1;
        count++;
    }
    return count;
}

unsigned long long __raddle_bswap(unsigned long long value, int width) {
    unsigned long long swapped = 0;
    for (int at = 0; at < width; at += 8)
        swapped = swapped << 8 | (value >> at & 255);
    return swapped;
}
