/* Threads, POSIX and C11. Time does not pass: whatever waits for it is a choice, or nothing. */

/* Thread-specific data, with destructors that run when a thread ends. A key may be made while others end. */

static int keys_made;
static void (*key_destructor[32])(void *);
static _Thread_local void *key_value[32];

int pthread_key_create(unsigned *key, void (*destructor)(void *)) {
    int made = __atomic_fetch_add(&keys_made, 1, 5);
    if (made >= 32)
        return 11;
    __atomic_store_n(&key_destructor[made], destructor, 3);
    *key = made;
    return 0;
}

int pthread_key_delete(unsigned key) {
    __atomic_store_n(&key_destructor[key], (void (*)(void *))0, 3);
    return 0;
}

int pthread_setspecific(unsigned key, const void *value) {
    key_value[key] = (void *)value;
    return 0;
}

void *pthread_getspecific(unsigned key) {
    return key_value[key];
}

void __raddle_robust_end(void);

void __raddle_thread_end(void) {
    int made = __atomic_load_n(&keys_made, 5);
    for (int turn = 0; turn < 4; turn++) {
        int ran = 0;
        for (int key = 0; key < made; key++) {
            void *value = key_value[key];
            void (*destructor)(void *) = 0;
            if (value != 0)
                destructor = __atomic_load_n(&key_destructor[key], 2);
            if (destructor != 0) {
                key_value[key] = 0;
                destructor(value);
                ran = 1;
            }
        }
        if (!ran)
            break;
    }
    if (__raddle_uses("pthread_mutexattr_setrobust"))
        __raddle_robust_end();
}

void *__raddle_thread_start(void *(*function)(void *), void *argument) {
    void *result = function(argument);
    __raddle_thread_end();
    return result;
}

unsigned long long __raddle_start(void *(*function)(void *), void *argument);

int tss_create(unsigned *key, void (*destructor)(void *)) { return pthread_key_create(key, destructor); }
void tss_delete(unsigned key) { pthread_key_delete(key); }
int tss_set(unsigned key, void *value) { return pthread_setspecific(key, value); }
void *tss_get(unsigned key) { return key_value[key]; }

/* Threads. */

/* Which threads are detached, by their handles; only programs that detach some pay for it. */

static char detached[4096];

int __raddle_detaches(void) {
    return __raddle_uses("pthread_detach") || __raddle_uses("thrd_detach") || __raddle_uses("pthread_attr_setdetachstate");
}

void __raddle_detach(unsigned long thread) {
    if (__atomic_exchange_n(&detached[thread & 4095], 1, 0))
        __raddle_misuse_lock("a thread is detached that is detached already");
}

void __raddle_joinable(unsigned long thread) {
    if (__raddle_detaches() && __atomic_load_n(&detached[thread & 4095], 0))
        __raddle_misuse_lock("a thread is joined that is detached");
}

int pthread_create(unsigned long *thread, const void *attributes, void *(*function)(void *), void *argument) {
    unsigned long started = __raddle_start(function, argument);
    *thread = started;
    if (__raddle_uses("pthread_attr_setdetachstate"))
        if (attributes != 0 && *(const int *)attributes != 0)
            __raddle_detach(started);
    return 0;
}

int pthread_join(unsigned long thread, void **result) {
    pthread_testcancel();
    __raddle_joinable(thread);
    void *value = __raddle_join(thread);
    if (result != 0)
        *result = value;
    return 0;
}

int pthread_detach(unsigned long thread) { __raddle_detach(thread); return 0; }
unsigned long pthread_self(void) { return __raddle_self(); }
int pthread_equal(unsigned long a, unsigned long b) { return a == b; }
int pthread_attr_init(int *attributes) { *attributes = 0; return 0; }
int pthread_attr_destroy(void *attributes) { return 0; }
int pthread_attr_setdetachstate(int *attributes, int state) { *attributes = state; return 0; }
int pthread_attr_setstacksize(void *attributes, unsigned long size) { return 0; }
int pthread_attr_setscope(void *attributes, int scope) { return 0; }
int pthread_setconcurrency(int level) { return 0; }
int pthread_yield(void) { return 0; }
int sched_yield(void) { return 0; }
int usleep(unsigned microseconds) { pthread_testcancel(); return 0; }
unsigned sleep(unsigned seconds) { pthread_testcancel(); return 0; }
int nanosleep(const void *wanted, void *left) { pthread_testcancel(); return 0; }
int sched_getcpu(void) { return 0; }

int thrd_create(unsigned long *thread, int (*function)(void *), void *argument) {
    *thread = __raddle_start((void *(*)(void *))function, argument);
    return 0;
}

int thrd_join(unsigned long thread, int *result) {
    __raddle_joinable(thread);
    int value = __raddle_join_int(thread);
    if (result != 0)
        *result = value;
    return 0;
}

int thrd_detach(unsigned long thread) { __raddle_detach(thread); return 0; }
unsigned long thrd_current(void) { return __raddle_self(); }
int thrd_equal(unsigned long a, unsigned long b) { return a == b; }
void thrd_yield(void) {}
int thrd_sleep(const void *wanted, void *left) { return 0; }

/* Running something once. */

int pthread_once(int *once, void (*function)(void)) {
    int seen = 0;
    if (__atomic_compare_exchange_n(once, &seen, 1, 0, 2, 2)) {
        function();
        __atomic_store_n(once, 2, 3);
    } else if (seen != 2) {
        while (__atomic_load_n(once, 2) != 2)
            ;
    }
    return 0;
}

void call_once(int *once, void (*function)(void)) { pthread_once(once, function); }

/* The clock stands still. */

long time(long *now) {
    if (now != 0)
        *now = 0;
    return 0;
}

struct clock { long seconds, fraction; };

int clock_gettime(int which, struct clock *now) {
    now->seconds = 0;
    now->fraction = 0;
    return 0;
}

int gettimeofday(struct clock *now, void *zone) {
    now->seconds = 0;
    now->fraction = 0;
    return 0;
}

int timespec_get(struct clock *now, int base) {
    now->seconds = 0;
    now->fraction = 0;
    return base;
}

long clock(void) { return 0; }
double difftime(long later, long earlier) { return (double)(later - earlier); }
int getpid(void) { return 1; }
