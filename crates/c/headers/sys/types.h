#ifndef RADDLE_SYS_TYPES_H
#define RADDLE_SYS_TYPES_H
#include <stddef.h>
#include <stdint.h>
typedef __PTRDIFF_TYPE__ ssize_t;
typedef int pid_t;
typedef long off_t;
typedef unsigned mode_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned short ushort;
#endif
