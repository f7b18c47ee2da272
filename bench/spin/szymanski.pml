/* Szymanski's mutual exclusion (1988) of N processes that enter again and again, one access a step; as szymanski.rdl. */
#ifndef N
#define N 3
#endif

byte flag[N];
byte inside;

active [N] proctype worker() {
    byte j;
again:
    flag[_pid] = 1;
    do
    :: atomic { j < N - 1 && flag[j] < 3 -> j++ }
    :: atomic { j == N - 1 && flag[j] < 3 -> j = 0; break }
    od;
    flag[_pid] = 3;
    do
    :: atomic { flag[j] != 1 && j < N - 1 -> j++ }
    :: atomic { flag[j] != 1 && j == N - 1 -> j = 0; goto fourth }
    :: atomic { flag[j] == 1 -> j = 0; break }
    od;
    flag[_pid] = 2;
    do
    :: atomic { flag[j] == 4 -> j = 0; break }
    :: atomic { flag[j] != 4 -> j = (j + 1) % N }
    od;
fourth:
    atomic {
        flag[_pid] = 4;
        if
        :: _pid == 0 -> goto enter
        :: else
        fi
    };
    do
    :: atomic { j < _pid - 1 && flag[j] < 2 -> j++ }
    :: atomic { j == _pid - 1 && flag[j] < 2 -> j = 0; break }
    od;
enter:
    inside = _pid + 1;
    atomic {
        assert(inside == _pid + 1);
        j = _pid + 1;
        if
        :: j >= N -> goto leave
        :: else
        fi
    };
    do
    :: atomic { j < N - 1 && (flag[j] < 2 || flag[j] > 3) -> j++ }
    :: atomic { j == N - 1 && (flag[j] < 2 || flag[j] > 3) -> break }
    od;
leave:
    atomic { flag[_pid] = 0; j = 0 };
    goto again
}
