/* Files and sockets that the program was given. What comes from outside may be anything, so each call may fail, find nothing, or bring one byte that is not known; whoever
   waits for more asks again. */

unsigned char __VERIFIER_nondet_uchar(void);

long read(int file, void *to, unsigned long size) {
    pthread_testcancel();
    int what = __raddle_choose(0, 2);
    if (what == 1) {
        *__errno_location() = 5;
        return -1;
    }
    if (what == 0 || size == 0)
        return 0;
    *(unsigned char *)to = __VERIFIER_nondet_uchar();
    return 1;
}

long recv(int socket, void *to, unsigned long size, int flags) { return read(socket, to, size); }

long write(int file, const void *from, unsigned long size) {
    pthread_testcancel();
    if (__raddle_choose(0, 1)) {
        *__errno_location() = 5;
        return -1;
    }
    return (long)size;
}

long send(int socket, const void *from, unsigned long size, int flags) { return write(socket, from, size); }

int pipe(int *ends) {
    ends[0] = 3;
    ends[1] = 4;
    return 0;
}

int pipe2(int *ends, int flags) { return pipe(ends); }

struct polled { int file; short wanted, found; };

int poll(struct polled *files, unsigned long count, int time) {
    pthread_testcancel();
    int ready = 0;
    if (__raddle_choose(0, 1)) {
        for (unsigned long i = 0; i < count; i++) {
            files[i].found = files[i].file >= 0 && __raddle_choose(0, 1) ? files[i].wanted : 0;
            ready += files[i].found != 0;
        }
        __raddle_assume(ready > 0);
        return ready;
    }
    for (unsigned long i = 0; i < count; i++)
        files[i].found = 0;
    /* Who waits for ever waits until something is there, or is interrupted. */
    if (time < 0) {
        *__errno_location() = 4;
        return -1;
    }
    return 0;
}

/* Time is up, or everything is ready that was asked for. */
int select(int count, unsigned long *readable, unsigned long *writable, unsigned long *exceptional, void *time) {
    unsigned long *sets[3] = { readable, writable, exceptional };
    int words = (count + 8 * (int)sizeof(long) - 1) / (8 * (int)sizeof(long)), ready = 0;
    int found = count > 0 && __raddle_choose(0, 1);
    for (int set = 0; set < 3; set++)
        for (int word = 0; sets[set] != 0 && word < words; word++) {
            if (!found)
                sets[set][word] = 0;
            ready += __raddle_popcount(sets[set][word], 8 * sizeof(long));
        }
    if (found)
        __raddle_assume(ready > 0);
    if (!found && time == 0) {
        *__errno_location() = 4;
        return -1;
    }
    return ready;
}

/* Memory of its own, in whole pages. It stays when it is given back. */
void *mmap(void *wanted, unsigned long size, int protection, int flags, int file, long offset) {
    if (!(flags & 32) || size == 0) {
        *__errno_location() = size == 0 ? 22 : 19;
        return (void *)-1L;
    }
    unsigned long whole = (size + 4095) / 4096 * 4096;
    char *memory = (char *)__raddle_zalloc(whole + 4095);
    return memory + (4096 - (unsigned long)memory % 4096) % 4096;
}

int munmap(void *memory, unsigned long size) { return 0; }
int mprotect(void *memory, unsigned long size, int protection) { return 0; }
int madvise(void *memory, unsigned long size, int advice) { return 0; }
int mlock(const void *memory, unsigned long size) { return 0; }
int munlock(const void *memory, unsigned long size) { return 0; }
