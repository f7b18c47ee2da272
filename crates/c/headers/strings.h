#ifndef RADDLE_STRINGS_H
#define RADDLE_STRINGS_H
#include <stddef.h>
void bzero(void *bytes, size_t size);
#endif
