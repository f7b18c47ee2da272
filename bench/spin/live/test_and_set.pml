/* A lock by test and set of N processes that enter again and again, one access a step; as test_and_set.rdl. */
#ifndef N
#define N 4
#endif

bool locked;
bool wants[N];

active [N] proctype worker() {
again:
    wants[_pid] = 1;
    do
    :: atomic { locked == 0 -> locked = 1; break }
    :: locked != 0
    od;
    wants[_pid] = 0;
    locked = 0;
    goto again
}

ltl served { [] (wants[0] -> <> !wants[0]) }
