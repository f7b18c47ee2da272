#ifndef RADDLE_INTTYPES_H
#define RADDLE_INTTYPES_H
#include <stdint.h>
#if __SIZEOF_LONG__ == 8
#define __RADDLE_64 "l"
#else
#define __RADDLE_64 "ll"
#endif
#define PRId8 "hh""d"
#define PRId16 "h""d"
#define PRId32 "d"
#define PRId64 __RADDLE_64 "d"
#define PRIdPTR "ll""d"
#define PRIdMAX __RADDLE_64 "d"
#define PRIi8 "hh""i"
#define PRIi16 "h""i"
#define PRIi32 "i"
#define PRIi64 __RADDLE_64 "i"
#define PRIiPTR "ll""i"
#define PRIiMAX __RADDLE_64 "i"
#define PRIo8 "hh""o"
#define PRIo16 "h""o"
#define PRIo32 "o"
#define PRIo64 __RADDLE_64 "o"
#define PRIoPTR "ll""o"
#define PRIoMAX __RADDLE_64 "o"
#define PRIu8 "hh""u"
#define PRIu16 "h""u"
#define PRIu32 "u"
#define PRIu64 __RADDLE_64 "u"
#define PRIuPTR "ll""u"
#define PRIuMAX __RADDLE_64 "u"
#define PRIx8 "hh""x"
#define PRIx16 "h""x"
#define PRIx32 "x"
#define PRIx64 __RADDLE_64 "x"
#define PRIxPTR "ll""x"
#define PRIxMAX __RADDLE_64 "x"
#endif
