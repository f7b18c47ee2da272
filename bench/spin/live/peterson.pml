/* Peterson's mutual exclusion (1981) of N processes that enter again and again, one access a step; as peterson.rdl. */
#ifndef N
#define N 3
#endif

byte level[N];
byte victim[N];

#define FIRST (_pid == 0 -> 1 : 0)
#define AFTER (k + 1 == _pid -> k + 2 : k + 1)

active [N] proctype worker() {
    byte l, k;
again:
    atomic { level[_pid] = 1; l = 1 };
next:
    victim[l] = _pid;
look:
    if
    :: atomic { victim[l] != _pid -> goto pass }
    :: atomic { victim[l] == _pid -> k = FIRST }
    fi;
    do
    :: atomic { level[k] < l && AFTER < N -> k = AFTER }
    :: atomic { level[k] < l && AFTER >= N -> k = 0; goto pass }
    :: atomic { level[k] >= l -> k = 0; goto look }
    od;
pass:
    if
    :: atomic { l < N - 1 -> l++; level[_pid] = l; goto next }
    :: atomic { l == N - 1 -> level[_pid] = 0; l = 0; goto again }
    fi
}

ltl served { [] (level[0] != 0 -> <> (level[0] == 0)) }
