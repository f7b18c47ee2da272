#ifndef RADDLE_SYS_SYSCALL_H
#define RADDLE_SYS_SYSCALL_H
#if __SIZEOF_LONG__ == 8
#define __NR_sched_yield 24
#define __NR_gettid 186
#define __NR_futex 202
#define __NR_membarrier 324
#else
#define __NR_sched_yield 158
#define __NR_gettid 224
#define __NR_futex 240
#define __NR_membarrier 375
#endif
#define SYS_sched_yield __NR_sched_yield
#define SYS_gettid __NR_gettid
#define SYS_futex __NR_futex
#define SYS_membarrier __NR_membarrier
#endif
