#ifndef RADDLE_SCHED_H
#define RADDLE_SCHED_H
int sched_yield(void);
int sched_getcpu(void);
#endif
