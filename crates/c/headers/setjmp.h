#ifndef _RADDLE_SETJMP_H
#define _RADDLE_SETJMP_H
typedef struct { unsigned long __words[8]; } jmp_buf[1];
typedef jmp_buf sigjmp_buf;
int setjmp(jmp_buf buffer);
int _setjmp(jmp_buf buffer);
int sigsetjmp(sigjmp_buf buffer, int save_mask);
void longjmp(jmp_buf buffer, int value) __attribute__((__noreturn__));
void _longjmp(jmp_buf buffer, int value) __attribute__((__noreturn__));
void siglongjmp(sigjmp_buf buffer, int value) __attribute__((__noreturn__));
#endif
