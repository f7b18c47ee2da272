#ifndef RADDLE_SEMAPHORE_H
#define RADDLE_SEMAPHORE_H
#include <time.h>
typedef struct { int __count; } sem_t;
#define SEM_VALUE_MAX 2147483647
int sem_init(sem_t *sem, int shared, unsigned value);
int sem_destroy(sem_t *sem);
int sem_wait(sem_t *sem);
int sem_trywait(sem_t *sem);
int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict deadline);
int sem_post(sem_t *sem);
int sem_getvalue(sem_t *restrict sem, int *restrict value);
#endif
