#ifndef RADDLE_UNISTD_H
#define RADDLE_UNISTD_H
#include <stddef.h>
#include <sys/types.h>
int usleep(unsigned microseconds);
int pipe(int ends[2]);
unsigned sleep(unsigned seconds);
pid_t getpid(void);
long syscall(long number, ...);
_Noreturn void _exit(int status);
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#endif
