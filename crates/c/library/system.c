/* What programs ask of the system around them. Nothing of it has an effect on other threads; signals are never delivered, files do not exist. */

long sysconf(int name) { return name == 83 || name == 84 ? 2 : name == 30 ? 4096 : -1; }
int getpagesize(void) { return 4096; }

void err(int status, const char *format, ...) { exit(status); }
void errx(int status, const char *format, ...) { exit(status); }
void warn(const char *format, ...) { }
void warnx(const char *format, ...) { }
void syslog(int priority, const char *format, ...) { }
void openlog(const char *name, int option, int facility) { }
void closelog(void) { }

int sigemptyset(void *set) { return 0; }
int sigfillset(void *set) { return 0; }
int sigaddset(void *set, int signal) { return 0; }
int sigdelset(void *set, int signal) { return 0; }
int sigaction(int signal, const void *action, void *old) { return 0; }
void *signal(int number, void *handler) { return (void *)0; }
int sigprocmask(int how, const void *set, void *old) { return 0; }
int pthread_sigmask(int how, const void *set, void *old) { return 0; }
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
int pthread_setcancelstate(int state, int *old) {
    if (old != 0)
        *old = 0;
    return 0;
}
int pthread_setcanceltype(int type, int *old) {
    if (old != 0)
        *old = 0;
    return 0;
}
int setpriority(int which, unsigned who, int priority) { return 0; }
int clock_nanosleep(int clock, int flags, const void *wanted, void *left) { return 0; }
int clock_getres(int clock, void *resolution) { return 0; }
int isatty(int file) { return 0; }
int setvbuf(void *file, char *buffer, int mode, unsigned long size) { return 0; }
void setbuf(void *file, char *buffer) { }
void *fopen(const char *name, const char *mode) { return (void *)0; }
int fclose(void *file) { return 0; }
long write(int file, const void *from, unsigned long size) { return (long)size; }
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
