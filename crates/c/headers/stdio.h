#ifndef RADDLE_STDIO_H
#define RADDLE_STDIO_H
#include <stddef.h>
typedef struct __raddle_file FILE;
#define stdin ((FILE *)0)
#define stdout ((FILE *)1)
#define stderr ((FILE *)2)
#define EOF (-1)
#define BUFSIZ 8192
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int dprintf(int file, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int vprintf(const char *format, __builtin_va_list list);
int vfprintf(FILE *file, const char *format, __builtin_va_list list);
int vdprintf(int file, const char *format, __builtin_va_list list);
int vsprintf(char *to, const char *format, __builtin_va_list list);
int sscanf(const char *from, const char *format, ...);
int vsscanf(const char *from, const char *format, __builtin_va_list list);
int vsnprintf(char *to, size_t size, const char *format, __builtin_va_list list);
int asprintf(char **to, const char *format, ...);
int vasprintf(char **to, const char *format, __builtin_va_list list);
int puts(const char *text);
int putchar(int c);
int putc(int c, FILE *file);
int fputc(int c, FILE *file);
int fputs(const char *text, FILE *file);
int fflush(FILE *file);
void perror(const char *text);
int getchar(void);
int scanf(const char *format, ...);
char *fgets(char *to, int size, FILE *file);
#endif
