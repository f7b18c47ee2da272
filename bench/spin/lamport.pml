/* Lamport's fast mutual exclusion (1987) of N processes that enter again and again, one access a step; as lamport.rdl. */
#ifndef N
#define N 3
#endif

byte b[N + 1];
byte x, y, inside;

active [N] proctype worker() {
    byte k;
attempt:
    b[_pid + 1] = 1;
    x = _pid + 1;
    if
    :: y != 0 -> b[_pid + 1] = 0; y == 0; goto attempt
    :: else
    fi;
    y = _pid + 1;
    if
    :: x == _pid + 1 -> goto enter
    :: else
    fi;
    atomic { b[_pid + 1] = 0; k = 1 };
    do
    :: atomic { k < N && b[k] == 0 -> k++ }
    :: atomic { k == N && b[k] == 0 -> k = 0; break }
    od;
    if
    :: y == _pid + 1 -> goto enter
    :: else
    fi;
    y == 0;
    goto attempt;
enter:
    inside = _pid + 1;
    assert(inside == _pid + 1);
    y = 0;
    b[_pid + 1] = 0;
    goto attempt
}
