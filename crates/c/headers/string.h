#ifndef RADDLE_STRING_H
#define RADDLE_STRING_H
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *mempcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *bytes, int wanted, size_t size);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t most);
char *strcpy(char *restrict to, const char *restrict from);
char *stpcpy(char *restrict to, const char *restrict from);
char *strncpy(char *restrict to, const char *restrict from, size_t most);
char *strcat(char *restrict to, const char *restrict from);
char *strncat(char *restrict to, const char *restrict from, size_t most);
char *strchr(const char *s, int wanted);
char *strrchr(const char *s, int wanted);
char *strstr(const char *s, const char *wanted);
char *strdup(const char *s);
char *strerror(int number);
#endif
