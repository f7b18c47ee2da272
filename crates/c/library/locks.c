/* Mutexes, reader-writer locks, condition variables, barriers, spin locks, semaphores; POSIX and C11.

   Kinds of mutexes are looked at only in programs that set them. The layout has the kind where glibc has it, so that
   programs preprocessed with its headers work too. */

struct mutex { int word, count; int owner, users; int kind; };

enum { NORMAL = 0, RECURSIVE = 1, ERRORCHECK = 2, KIND = 3, ROBUST = 16 };
enum { EPERM = 1, EAGAIN = 11, EBUSY = 16, EINVAL = 22, EDEADLK = 35, ETIMEDOUT = 110, EOWNERDEAD = 130, ENOTRECOVERABLE = 131 };

int __raddle_robust(void) { return __raddle_uses("pthread_mutexattr_setrobust"); }
int __raddle_kinds(void) { return __raddle_uses("pthread_mutexattr_settype") || __raddle_robust(); }

int pthread_mutexattr_init(int *attributes) { *attributes = 0; return 0; }
int pthread_mutexattr_destroy(int *attributes) { return 0; }
int pthread_mutexattr_settype(int *attributes, int kind) { *attributes = (*attributes & ~KIND) | kind; return 0; }
int pthread_mutexattr_gettype(const int *attributes, int *kind) { *kind = *attributes & KIND; return 0; }
int pthread_mutexattr_setrobust(int *attributes, int robust) { *attributes = (*attributes & ~ROBUST) | (robust ? ROBUST : 0); return 0; }
int pthread_mutexattr_getrobust(const int *attributes, int *robust) { *robust = (*attributes & ROBUST) != 0; return 0; }
int pthread_mutexattr_setpshared(int *attributes, int shared) { return 0; }

int pthread_mutex_init(struct mutex *mutex, const int *attributes) {
    mutex->word = 0;
    if (__raddle_kinds()) {
        mutex->owner = 0;
        mutex->users = 0;
        mutex->kind = 0;
        if (attributes != 0)
            mutex->kind = *attributes;
    }
    return 0;
}

/* Robust mutexes. A thread that ends unlocks those that it holds and leaves a word to the next owner. */

enum { SOUND = 0, ABANDONED = 1, INHERITED = 2, LOST = 3 };

static _Thread_local struct mutex *robust_held[16];
static _Thread_local int robust_count;

static int __raddle_robust_holds(struct mutex *mutex) {
    for (int at = 0; at < robust_count; at++)
        if (robust_held[at] == mutex)
            return 1;
    return 0;
}

/* What locking says when the lock has been taken. */
static int __raddle_robust_taken(struct mutex *mutex) {
    if (mutex->users == LOST) {
        __raddle_unlock(mutex);
        return ENOTRECOVERABLE;
    }
    if (robust_count >= 16)
        __raddle_misuse_lock("more than 16 robust mutexes are held");
    robust_held[robust_count++] = mutex;
    if (mutex->users != ABANDONED)
        return 0;
    mutex->users = INHERITED;
    return EOWNERDEAD;
}

/* Its owner locks it again, which only the recursive kind allows; `owner` counts how often. */
static int __raddle_robust_again(struct mutex *mutex) {
    if ((mutex->kind & KIND) == ERRORCHECK)
        return EDEADLK;
    mutex->owner++;
    return 0;
}

static int __raddle_robust_lock(struct mutex *mutex) {
    if ((mutex->kind & KIND) != NORMAL && __raddle_robust_holds(mutex))
        return __raddle_robust_again(mutex);
    __raddle_lock(mutex);
    return __raddle_robust_taken(mutex);
}

static int __raddle_robust_trylock(struct mutex *mutex) {
    if ((mutex->kind & KIND) == RECURSIVE && __raddle_robust_holds(mutex))
        return __raddle_robust_again(mutex);
    return __raddle_trylock(mutex) ? __raddle_robust_taken(mutex) : EBUSY;
}

static int __raddle_robust_unlock(struct mutex *mutex) {
    if (!__raddle_robust_holds(mutex)) {
        if ((mutex->kind & KIND) != NORMAL)
            return EPERM;
    } else if ((mutex->kind & KIND) == RECURSIVE && mutex->owner > 0) {
        mutex->owner--;
        return 0;
    } else {
        for (int at = 0; at < robust_count; at++)
            if (robust_held[at] == mutex)
                robust_held[at] = robust_held[--robust_count];
        if (mutex->users == INHERITED)
            mutex->users = LOST;
    }
    __raddle_unlock(mutex);
    return 0;
}

void __raddle_robust_end(void) {
    while (robust_count > 0) {
        struct mutex *mutex = robust_held[--robust_count];
        mutex->users = ABANDONED;
        mutex->owner = 0;
        __raddle_unlock(mutex);
    }
}

int pthread_mutex_consistent(struct mutex *mutex) {
    if (!(mutex->kind & ROBUST) || mutex->users != INHERITED)
        return EINVAL;
    mutex->users = SOUND;
    return 0;
}

int pthread_mutex_destroy(struct mutex *mutex) { __raddle_destroy32(mutex); return 0; }

static int checked_lock(struct mutex *mutex) {
    int self = (int)__raddle_self() + 1;
    if (__atomic_load_n(&mutex->owner, 0) == self)
        return EDEADLK;
    __raddle_lock(mutex);
    __atomic_store_n(&mutex->owner, self, 0);
    return 0;
}

int pthread_mutex_lock(struct mutex *mutex) {
    if (__raddle_kinds()) {
        int kind = mutex->kind;
        if (__raddle_robust() && kind & ROBUST)
            return __raddle_robust_lock(mutex);
        if (kind == ERRORCHECK)
            return checked_lock(mutex);
        if (kind == RECURSIVE) {
            __raddle_lock_recursive(mutex);
            return 0;
        }
    }
    __raddle_lock(mutex);
    return 0;
}

int pthread_mutex_trylock(struct mutex *mutex) {
    if (__raddle_kinds()) {
        int kind = mutex->kind;
        if (__raddle_robust() && kind & ROBUST)
            return __raddle_robust_trylock(mutex);
        if (kind == RECURSIVE)
            return __raddle_trylock_recursive(mutex) ? 0 : EBUSY;
        if (kind == ERRORCHECK) {
            if (!__raddle_trylock(mutex))
                return EBUSY;
            __atomic_store_n(&mutex->owner, (int)__raddle_self() + 1, 0);
            return 0;
        }
    }
    return __raddle_trylock(mutex) ? 0 : EBUSY;
}

int pthread_mutex_unlock(struct mutex *mutex) {
    if (__raddle_kinds()) {
        int kind = mutex->kind;
        if (__raddle_robust() && kind & ROBUST)
            return __raddle_robust_unlock(mutex);
        if (kind == ERRORCHECK) {
            if (__atomic_load_n(&mutex->owner, 0) != (int)__raddle_self() + 1)
                return EPERM;
            __atomic_store_n(&mutex->owner, 0, 0);
        }
    }
    __raddle_unlock(mutex);
    return 0;
}

/* Time may be up whenever a lock is taken by somebody else, and until then nothing is seen of the wait. So a lock with a deadline is an
   attempt that is made at any time. */
int pthread_mutex_timedlock(struct mutex *mutex, const void *deadline) {
    int failed = pthread_mutex_trylock(mutex);
    return failed == EBUSY ? ETIMEDOUT : failed;
}

int pthread_mutex_clocklock(struct mutex *mutex, int clock, const void *deadline) {
    return pthread_mutex_timedlock(mutex, deadline);
}

/* C11: 0 is success, 1 busy, 2 error, 4 time is up; kinds are plain 0, recursive 1, timed 2. */

int mtx_init(struct mutex *mutex, int kind) {
    mutex->word = 0;
    mutex->owner = 0;
    mutex->kind = kind & 1;
    return 0;
}

void mtx_destroy(struct mutex *mutex) { __raddle_destroy32(mutex); }

int mtx_lock(struct mutex *mutex) {
    if (mutex->kind == RECURSIVE) {
        __raddle_lock_recursive(mutex);
        return 0;
    }
    __raddle_lock(mutex);
    return 0;
}

int mtx_trylock(struct mutex *mutex) {
    if (mutex->kind == RECURSIVE)
        return __raddle_trylock_recursive(mutex) ? 0 : 1;
    return __raddle_trylock(mutex) ? 0 : 1;
}

int mtx_timedlock(struct mutex *mutex, const void *deadline) {
    return mtx_trylock(mutex) == 0 ? 0 : 4;
}

int mtx_unlock(struct mutex *mutex) { __raddle_unlock(mutex); return 0; }

/* Condition variables. */

int pthread_condattr_init(void *attributes) { return 0; }
int pthread_condattr_destroy(void *attributes) { return 0; }
int pthread_condattr_setclock(void *attributes, int clock) { return 0; }
int pthread_cond_init(long long *cond, const void *attributes) { *cond = 0; return 0; }
int pthread_cond_destroy(void *cond) { __raddle_destroy64(cond); return 0; }
int pthread_cond_signal(void *cond) { __raddle_cond_signal(cond); return 0; }
int pthread_cond_broadcast(void *cond) { __raddle_cond_broadcast(cond); return 0; }

int pthread_cond_wait(void *cond, struct mutex *mutex) {
    if (__raddle_spurious() && __raddle_choose(0, 1) == 1) {
        __raddle_unlock(mutex);
        __raddle_lock(mutex);
        return 0;
    }
    if (__raddle_cancel_while_waiting()) {
        __raddle_unlock(mutex);
        __raddle_await_cancellation();
        __raddle_lock(mutex);
        pthread_exit((void *)-1L);
    }
    if (__raddle_may_be_cancelled())
        __raddle_cond_timedwait(cond, mutex);
    else
        __raddle_cond_wait(cond, mutex);
    return 0;
}

/* A wait with a deadline is signalled, or time is up. */
int pthread_cond_timedwait(void *cond, struct mutex *mutex, const void *deadline) {
    pthread_testcancel();
    if (__raddle_choose(0, 1) == 1) {
        __raddle_unlock(mutex);
        __raddle_lock(mutex);
        return ETIMEDOUT;
    }
    __raddle_cond_timedwait(cond, mutex);
    return 0;
}

int pthread_cond_clockwait(void *cond, struct mutex *mutex, int clock, const void *deadline) {
    return pthread_cond_timedwait(cond, mutex, deadline);
}

int cnd_init(long long *cond) { *cond = 0; return 0; }
void cnd_destroy(void *cond) { __raddle_destroy64(cond); }
int cnd_signal(void *cond) { __raddle_cond_signal(cond); return 0; }
int cnd_broadcast(void *cond) { __raddle_cond_broadcast(cond); return 0; }
int cnd_wait(void *cond, struct mutex *mutex) { return pthread_cond_wait(cond, mutex); }

int cnd_timedwait(void *cond, struct mutex *mutex, const void *deadline) {
    return pthread_cond_timedwait(cond, mutex, deadline) == 0 ? 0 : 4;
}

/* Reader-writer locks. */

int pthread_rwlockattr_init(void *attributes) { return 0; }
int pthread_rwlockattr_destroy(void *attributes) { return 0; }
int pthread_rwlock_init(int *lock, const void *attributes) { *lock = 0; return 0; }
int pthread_rwlock_destroy(void *lock) { __raddle_destroy32(lock); return 0; }
int pthread_rwlock_rdlock(void *lock) { __raddle_rdlock(lock); return 0; }
int pthread_rwlock_wrlock(void *lock) { __raddle_wrlock(lock); return 0; }
int pthread_rwlock_tryrdlock(void *lock) { return __raddle_tryrdlock(lock) ? 0 : EBUSY; }
int pthread_rwlock_trywrlock(void *lock) { return __raddle_trywrlock(lock) ? 0 : EBUSY; }
int pthread_rwlock_unlock(void *lock) { __raddle_rwunlock(lock); return 0; }

int pthread_rwlock_timedrdlock(void *lock, const void *deadline) { return __raddle_tryrdlock(lock) ? 0 : ETIMEDOUT; }
int pthread_rwlock_timedwrlock(void *lock, const void *deadline) { return __raddle_trywrlock(lock) ? 0 : ETIMEDOUT; }

/* Barriers. */

int pthread_barrierattr_init(void *attributes) { return 0; }
int pthread_barrierattr_destroy(void *attributes) { return 0; }

int pthread_barrier_init(void *barrier, const void *attributes, unsigned count) {
    if (count == 0)
        return EINVAL;
    unsigned long long word = __raddle_peek64(barrier);
    if (word >> 32 != 0 && word >> 32 < 4096)
        __raddle_misuse_lock("a barrier is initialised that is initialised already");
    __raddle_barrier_init(barrier, count);
    return 0;
}

int pthread_barrier_destroy(void *barrier) { __raddle_destroy64(barrier); return 0; }
int pthread_barrier_wait(void *barrier) { return __raddle_barrier_wait(barrier) ? -1 : 0; }

/* Spin locks are mutexes that wait in another way. */

int pthread_spin_init(volatile int *lock, int shared) { *lock = 0; return 0; }
int pthread_spin_destroy(volatile int *lock) { __raddle_destroy32((void *)lock); return 0; }
int pthread_spin_lock(volatile int *lock) { __raddle_lock((void *)lock); return 0; }
int pthread_spin_trylock(volatile int *lock) { return __raddle_trylock((void *)lock) ? 0 : EBUSY; }
int pthread_spin_unlock(volatile int *lock) { __raddle_unlock((void *)lock); return 0; }

/* Semaphores. */

int *__errno_location(void);

int sem_init(int *sem, int shared, unsigned value) {
    if (value > 0x7fffffff) {
        *__errno_location() = EINVAL;
        return -1;
    }
    *sem = value;
    return 0;
}

int sem_destroy(void *sem) { __raddle_destroy32(sem); return 0; }

int sem_wait(void *sem) {
    if (__raddle_cancel_while_waiting()) {
        __raddle_await_cancellation();
        pthread_exit((void *)-1L);
    }
    /* Who may be cancelled does not wait for ever. */
    if (__raddle_may_be_cancelled())
        __raddle_assume(__raddle_sem_trywait(sem));
    else
        __raddle_sem_wait(sem);
    return 0;
}

int sem_post(void *sem) { __raddle_sem_post(sem); return 0; }

int sem_trywait(void *sem) {
    if (__raddle_sem_trywait(sem))
        return 0;
    *__errno_location() = EAGAIN;
    return -1;
}

int sem_timedwait(void *sem, const void *deadline) {
    if (__raddle_sem_trywait(sem))
        return 0;
    *__errno_location() = ETIMEDOUT;
    return -1;
}

int sem_clockwait(void *sem, int clock, const void *deadline) { return sem_timedwait(sem, deadline); }

int sem_getvalue(int *sem, int *value) {
    *value = __atomic_load_n(sem, 2);
    return 0;
}
