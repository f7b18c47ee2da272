#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) __raddle_assert(condition, #condition)
#endif
#ifndef static_assert
#define static_assert _Static_assert
#endif
