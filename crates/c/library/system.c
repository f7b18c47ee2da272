/* What programs ask of the system around them. Nothing of it has an effect on other threads; files do not exist, and the environment is empty. */

long sysconf(int name) { return name == 83 || name == 84 ? 2 : name == 30 ? 4096 : -1; }
int getpagesize(void) { return 4096; }

void err(int status, const char *format, ...) { exit(status); }
void errx(int status, const char *format, ...) { exit(status); }
void warn(const char *format, ...) { }
void warnx(const char *format, ...) { }
void syslog(int priority, const char *format, ...) { }
void openlog(const char *name, int option, int facility) { }
void closelog(void) { }

int siginterrupt(int signal, int flag) { return 0; }
unsigned alarm(unsigned seconds) { return 0; }

int prctl(int option, ...) { return 0; }
int pthread_setname_np(unsigned long thread, const char *name) { return 0; }
int pthread_getname_np(unsigned long thread, char *name, unsigned long size) {
    if (size > 0)
        name[0] = 0;
    return 0;
}
int pthread_setaffinity_np(unsigned long thread, unsigned long size, const void *set) { return 0; }
int sched_setaffinity(int process, unsigned long size, const void *set) { return 0; }
int pthread_setschedparam(unsigned long thread, int policy, const void *param) { return 0; }
int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) { return 0; }
int pthread_attr_setguardsize(void *attributes, unsigned long size) { return 0; }
int pthread_attr_setschedpolicy(void *attributes, int policy) { return 0; }
int pthread_attr_setschedparam(void *attributes, const void *param) { return 0; }
int pthread_attr_setinheritsched(void *attributes, int inherit) { return 0; }
int pthread_attr_getstacksize(const void *attributes, unsigned long *size) { *size = 8 << 20; return 0; }
int pthread_attr_setstack(void *attributes, void *stack, unsigned long size) { return 0; }
int pthread_attr_getguardsize(const void *attributes, unsigned long *size) { *size = 4096; return 0; }
int pthread_attr_getdetachstate(const int *attributes, int *state) { *state = *attributes; return 0; }
int pthread_attr_setaffinity_np(void *attributes, unsigned long size, const void *set) { return 0; }
int pthread_getschedparam(unsigned long thread, int *policy, int *param) { *policy = 0; *param = 0; return 0; }
int pthread_setschedprio(unsigned long thread, int priority) { return 0; }
int sched_setscheduler(int process, int policy, const void *param) { return 0; }
int sched_get_priority_min(int policy) { return 0; }
int sched_get_priority_max(int policy) { return 0; }
int pthread_mutexattr_setprotocol(void *attributes, int protocol) { return 0; }
int pthread_mutexattr_setprioceiling(void *attributes, int ceiling) { return 0; }
int pthread_rwlockattr_setpshared(void *attributes, int shared) { return 0; }
int pthread_rwlockattr_setkind_np(void *attributes, int kind) { return 0; }
int pthread_condattr_setpshared(void *attributes, int shared) { return 0; }
int pthread_barrierattr_setpshared(void *attributes, int shared) { return 0; }
int get_nprocs(void) { return 2; }
int get_nprocs_conf(void) { return 2; }
int gettid(void) { return (int)__raddle_self() + 1; }
int getppid(void) { return 1; }
unsigned getuid(void) { return 0; }
unsigned geteuid(void) { return 0; }
char *secure_getenv(const char *name) { return (char *)0; }
int setenv(const char *name, const char *value, int overwrite) { return 0; }
int system(const char *command) { return 0; }
int setpriority(int which, unsigned who, int priority) { return 0; }
int clock_nanosleep(int clock, int flags, const void *wanted, void *left) { pthread_testcancel(); return 0; }
int clock_getres(int clock, void *resolution) { return 0; }
int isatty(int file) { return 0; }
int setvbuf(void *file, char *buffer, int mode, unsigned long size) { return 0; }
void setbuf(void *file, char *buffer) { }
void *fopen(const char *name, const char *mode) { return (void *)0; }
int fclose(void *file) { return 0; }
int open(const char *name, int flags, ...) { *__errno_location() = 2; return -1; }
int openat(int folder, const char *name, int flags, ...) { *__errno_location() = 2; return -1; }
int stat(const char *name, void *what) { *__errno_location() = 2; return -1; }
int access(const char *name, int mode) { *__errno_location() = 2; return -1; }
int unlink(const char *name) { *__errno_location() = 2; return -1; }
int sysinfo(void *what) { *__errno_location() = 38; return -1; }
unsigned long fwrite(const void *from, unsigned long size, unsigned long count, void *file) { return count; }
int close(int file) { return 0; }
int fileno(void *file) { return 3; }
int mlockall(int flags) { return 0; }

/* Called in the reverse order when the program ends. */
static int handlers;
static void (*handler[32])(void);

int atexit(void (*function)(void)) {
    int number = __atomic_fetch_add(&handlers, 1, 5);
    if (number >= 32)
        return -1;
    handler[number] = function;
    return 0;
}

void __raddle_run_handlers(void) {
    while (handlers > 0) {
        handlers--;
        handler[handlers]();
    }
}

/* Where the words of a thread are. */
static _Thread_local long thread_words;
void *__raddle_thread_pointer(void) { return &thread_words; }

/* Bits, continued. */
int ffsll(long long value) { return value == 0 ? 0 : __raddle_ctz((unsigned long long)value, 64) + 1; }
int ffsl(long value) { return ffsll(value); }
int ffs(int value) { return ffsll(value); }

/* Whether the sum (0), difference (1) or product (2) of two numbers, given by sign and size, is no number of so many bits. */
int __raddle_overflows(int operation, int below, unsigned long long a, int other_below, unsigned long long b, int has_sign, int bits) {
    unsigned long long size;
    int over = 0, negative = below;
    if (operation == 1)
        other_below = !other_below;
    if (operation == 2) {
        over = b != 0 && a > ~0ULL / b;
        size = a * b;
        negative = below != other_below;
    } else if (below == other_below) {
        size = a + b;
        over = size < a;
    } else if (a >= b) {
        size = a - b;
    } else {
        size = b - a;
        negative = other_below;
    }
    if (over)
        return 1;
    if (has_sign) {
        unsigned long long most = 1ULL << (bits - 1);
        return negative ? size > most : size >= most;
    }
    return (negative && size != 0) || (bits < 64 && size >> bits != 0);
}

/* Strings, continued. */
int strcasecmp(const char *a, const char *b) {
    for (;; a++, b++) {
        int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);
        if (x != y || x == 0)
            return x - y;
    }
}

int strncasecmp(const char *a, const char *b, unsigned long size) {
    for (; size > 0; a++, b++, size--) {
        int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);
        if (x != y || x == 0)
            return x - y;
    }
    return 0;
}

unsigned long strspn(const char *s, const char *set) {
    unsigned long count = 0;
    while (s[count] != 0 && strchr(set, s[count]) != 0)
        count++;
    return count;
}

unsigned long strcspn(const char *s, const char *set) {
    unsigned long count = 0;
    while (s[count] != 0 && strchr(set, s[count]) == 0)
        count++;
    return count;
}

char *strpbrk(const char *s, const char *set) {
    s += strcspn(s, set);
    return *s != 0 ? (char *)s : (char *)0;
}

char *strtok_r(char *s, const char *set, char **rest) {
    if (s == 0)
        s = *rest;
    s += strspn(s, set);
    if (*s == 0) {
        *rest = s;
        return (char *)0;
    }
    char *end = s + strcspn(s, set);
    if (*end != 0)
        *end++ = 0;
    *rest = end;
    return s;
}

static char *strtok_rest;
char *strtok(char *s, const char *set) { return strtok_r(s, set, &strtok_rest); }

char *strndup(const char *s, unsigned long size) {
    unsigned long length = strnlen(s, size);
    char *copy = (char *)__raddle_alloc(length + 1);
    for (unsigned long i = 0; i < length; i++)
        copy[i] = s[i];
    copy[length] = 0;
    return copy;
}

long long strtoll(const char *s, char **end, int base) { return strtol(s, end, base); }
unsigned long long strtoull(const char *s, char **end, int base) { return strtoul(s, end, base); }
