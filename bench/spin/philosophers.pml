/* N philosophers who eat again and again, the last one left-handed, one access a step; as philosophers.rdl. */
#ifndef N
#define N 3
#endif

byte fork[N];
byte plate[N];

#define FIRST (_pid == N - 1 -> 0 : _pid)
#define SECOND (_pid == N - 1 -> _pid : _pid + 1)

active [N] proctype philosopher() {
    do
    :: atomic { fork[FIRST] == 0 -> fork[FIRST] = 1 };
        atomic { fork[SECOND] == 0 -> fork[SECOND] = 1 };
        plate[FIRST] = _pid;
        assert(plate[FIRST] == _pid);
        fork[SECOND] = 0;
        fork[FIRST] = 0
    od
}
