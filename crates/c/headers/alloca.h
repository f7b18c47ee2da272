#ifndef RADDLE_ALLOCA_H
#define RADDLE_ALLOCA_H
#include <stddef.h>
void *alloca(size_t size);
#endif
