/* What programs call beside what matters: dates, files that are not there, sockets that may fail. */

/* The clock stands at the beginning of 1970. */

struct date { int second, minute, hour, day, month, year, weekday, yearday, summer; long from_utc; const char *zone; };

static struct date shared_date;

struct date *localtime_r(const long *seconds, struct date *to) {
    long days = *seconds / 86400, rest = *seconds % 86400;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    to->second = rest % 60;
    to->minute = rest / 60 % 60;
    to->hour = rest / 3600;
    to->weekday = (days % 7 + 11) % 7;
    to->summer = 0;
    to->from_utc = 0;
    to->zone = "UTC";
    int year = 1970;
    for (;; year++) {
        int length = 365 + ((year % 4 == 0 && year % 100 != 0) || year % 400 == 0);
        if (days < 0) {
            days += 365 + (((year - 1) % 4 == 0 && (year - 1) % 100 != 0) || (year - 1) % 400 == 0);
            year -= 2;
        } else if (days >= length) {
            days -= length;
        } else {
            break;
        }
    }
    to->year = year - 1900;
    to->yearday = days;
    static const char lengths[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0, month = 0;
    for (; month < 11 && days >= lengths[month] + (leap && month == 1); month++)
        days -= lengths[month] + (leap && month == 1);
    to->month = month;
    to->day = days + 1;
    return to;
}

struct date *gmtime_r(const long *seconds, struct date *to) { return localtime_r(seconds, to); }
struct date *localtime(const long *seconds) { return localtime_r(seconds, &shared_date); }
struct date *gmtime(const long *seconds) { return localtime_r(seconds, &shared_date); }
void tzset(void) { }
int clock_settime(int clock, const void *now) { *__errno_location() = 1; return -1; }

unsigned long strftime(char *to, unsigned long size, const char *format, const struct date *date) {
    if (size < 2)
        return 0;
    to[0] = '0' + date->second % 10;
    to[1] = 0;
    return 1;
}

/* Files, of which there are none. Standard input is empty. */

int feof(void *file) { return 1; }
int ferror(void *file) { return 0; }
void clearerr(void *file) { }
int fgetc(void *file) { return -1; }
int getc(void *file) { return -1; }
int getchar(void) { return -1; }
char *fgets(char *to, int size, void *file) { return (char *)0; }
unsigned long fread(void *to, unsigned long size, unsigned long count, void *file) { return 0; }
long getline(char **line, unsigned long *size, void *file) { return -1; }
long getdelim(char **line, unsigned long *size, int end, void *file) { return -1; }
int fseek(void *file, long offset, int from) { return -1; }
long ftell(void *file) { return -1; }
void rewind(void *file) { }
void *freopen(const char *name, const char *mode, void *file) { return (void *)0; }
void flockfile(void *file) { }
void funlockfile(void *file) { }
int remove(const char *name) { *__errno_location() = 2; return -1; }
int rename(const char *from, const char *to) { *__errno_location() = 2; return -1; }
int mkdir(const char *name, unsigned mode) { *__errno_location() = 13; return -1; }
int lstat(const char *name, void *what) { *__errno_location() = 2; return -1; }
int fstat(int file, void *what) { *__errno_location() = 9; return -1; }
long readlink(const char *name, char *to, unsigned long size) { *__errno_location() = 2; return -1; }
void *opendir(const char *name) { *__errno_location() = 2; return (void *)0; }
char *getcwd(char *to, unsigned long size) { *__errno_location() = 2; return (char *)0; }
long lseek(int file, long offset, int from) { *__errno_location() = 29; return -1; }
int fsync(int file) { return 0; }
int fdatasync(int file) { return 0; }
int fcntl(int file, int command, ...) { return 0; }
int ioctl(int file, unsigned long request, ...) { *__errno_location() = 25; return -1; }
int dup(int file) { return file; }
int dup2(int file, int to) { return to; }
int gethostname(char *to, unsigned long size) { *__errno_location() = 38; return -1; }
int uname(void *what) { *__errno_location() = 38; return -1; }
int getrusage(int who, void *usage) { *__errno_location() = 38; return -1; }
int putenv(char *text) { return 0; }
int unsetenv(const char *name) { return 0; }
int nice(int by) { return 0; }
int backtrace(void **to, int size) { return 0; }
char **backtrace_symbols(void *const *from, int size) { return (char **)0; }

/* Sockets: a call succeeds or fails. */

static int __raddle_attempt(int result, int error) {
    if (!__raddle_choose(0, 1))
        return result;
    *__errno_location() = error;
    return -1;
}

int socket(int domain, int type, int protocol) { return __raddle_attempt(5, 24); }
int bind(int socket, const void *address, unsigned size) { return __raddle_attempt(0, 98); }
int listen(int socket, int backlog) { return 0; }
int accept(int socket, void *address, unsigned *size) { pthread_testcancel(); return __raddle_attempt(6, 11); }
int connect(int socket, const void *address, unsigned size) { pthread_testcancel(); return __raddle_attempt(0, 111); }
int shutdown(int socket, int how) { return 0; }
int setsockopt(int socket, int level, int option, const void *value, unsigned size) { return 0; }
int socketpair(int domain, int type, int protocol, int *ends) { return pipe(ends); }
int eventfd(unsigned value, int flags) { return 7; }

/* Processors. */

int sched_getaffinity(int process, unsigned long size, unsigned long *set) {
    for (unsigned long i = 0; i < size / sizeof(long); i++)
        set[i] = i == 0 ? 3 : 0;
    return 0;
}

int __sched_cpucount(unsigned long size, const unsigned long *set) {
    int count = 0;
    for (unsigned long i = 0; i < size / sizeof(long); i++)
        count += __raddle_popcount(set[i], 8 * sizeof(long));
    return count;
}

int pthread_getaffinity_np(unsigned long thread, unsigned long size, unsigned long *set) { return sched_getaffinity(0, size, set); }
int pthread_getconcurrency(void) { return 0; }
int pthread_attr_getscope(const void *attributes, int *scope) { *scope = 0; return 0; }

/* Strings and memory, the rest. */

int bcmp(const void *a, const void *b, unsigned long size) { return memcmp(a, b, size); }
char *index(const char *s, int c) { return strchr(s, c); }
char *rindex(const char *s, int c) { return strrchr(s, c); }
int strcoll(const char *a, const char *b) { return strcmp(a, b); }

char *strchrnul(const char *s, int c) {
    while (*s != 0 && *s != (char)c)
        s++;
    return (char *)s;
}

void *memrchr(const void *from, int c, unsigned long size) {
    const unsigned char *bytes = from;
    while (size > 0)
        if (bytes[--size] == (unsigned char)c)
            return (void *)(bytes + size);
    return (void *)0;
}

void *memmem(const void *from, unsigned long size, const void *what, unsigned long length) {
    const char *bytes = from;
    for (unsigned long at = 0; at + length <= size; at++)
        if (memcmp(bytes + at, what, length) == 0)
            return (void *)(bytes + at);
    return (void *)0;
}

unsigned long strlcpy(char *to, const char *from, unsigned long size) {
    unsigned long length = strlen(from);
    for (unsigned long i = 0; i < size; i++) {
        to[i] = i + 1 < size && i < length ? from[i] : 0;
        if (to[i] == 0)
            break;
    }
    return length;
}

char *strsep(char **rest, const char *set) {
    char *begin = *rest;
    if (begin == (char *)0)
        return begin;
    char *end = begin + strcspn(begin, set);
    if (*end == 0) {
        *rest = (char *)0;
    } else {
        *end = 0;
        *rest = end + 1;
    }
    return begin;
}

void explicit_bzero(void *at, unsigned long size) {
    for (unsigned long i = 0; i < size; i++)
        ((char *)at)[i] = 0;
}

void qsort_r(void *base, unsigned long count, unsigned long size, int (*compare)(const void *, const void *, void *), void *with) {
    char *bytes = base;
    for (unsigned long i = 1; i < count; i++)
        for (unsigned long j = i; j > 0 && compare(bytes + (j - 1) * size, bytes + j * size, with) > 0; j--)
            for (unsigned long k = 0; k < size; k++) {
                char c = __raddle_peek8(&bytes[j * size + k]);
                bytes[j * size + k] = __raddle_peek8(&bytes[(j - 1) * size + k]);
                bytes[(j - 1) * size + k] = c;
            }
}

/* Bytes in the order of the network. */
unsigned ntohl(unsigned value) { return __raddle_bswap(value, 32); }
unsigned htonl(unsigned value) { return __raddle_bswap(value, 32); }
unsigned short ntohs(unsigned short value) { return __raddle_bswap(value, 16); }
unsigned short htons(unsigned short value) { return __raddle_bswap(value, 16); }

/* Kinds of characters, as the macros of the GNU C library look at them: from -128 on, those above 127 are of no kind. */
static const unsigned short kinds[384] = { [128] =
    2, 2, 2, 2, 2, 2, 2, 2, 2, 8195, 8194, 8194,
    8194, 8194, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 24577, 49156, 49156, 49156,
    49156, 49156, 49156, 49156, 49156, 49156, 49156, 49156, 49156, 49156, 49156, 49156,
    55304, 55304, 55304, 55304, 55304, 55304, 55304, 55304, 55304, 55304, 49156, 49156,
    49156, 49156, 49156, 49156, 49156, 54536, 54536, 54536, 54536, 54536, 54536, 50440,
    50440, 50440, 50440, 50440, 50440, 50440, 50440, 50440, 50440, 50440, 50440, 50440,
    50440, 50440, 50440, 50440, 50440, 50440, 50440, 49156, 49156, 49156, 49156, 49156,
    49156, 54792, 54792, 54792, 54792, 54792, 54792, 50696, 50696, 50696, 50696, 50696,
    50696, 50696, 50696, 50696, 50696, 50696, 50696, 50696, 50696, 50696, 50696, 50696,
    50696, 50696, 50696, 49156, 49156, 49156, 49156, 2,
};

const unsigned short **__ctype_b_loc(void) {
    static const unsigned short *const table = kinds + 128;
    return (const unsigned short **)&table;
}
