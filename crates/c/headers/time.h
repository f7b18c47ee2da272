#ifndef RADDLE_TIME_H
#define RADDLE_TIME_H
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define TIME_UTC 1
time_t time(time_t *now);
clock_t clock(void);
double difftime(time_t later, time_t earlier);
int clock_gettime(clockid_t which, struct timespec *now);
int nanosleep(const struct timespec *wanted, struct timespec *left);
int timespec_get(struct timespec *now, int base);
#endif
