/* A ticket lock of N processes that enter again and again, one access a step; as ticket.rdl. Tickets wrap around. */
#ifndef N
#define N 4
#endif
#define STEP 32

byte next, serving;
bool wants[N];

active [N] proctype worker() {
    byte mine;
again:
    wants[_pid] = 1;
    atomic { mine = next; next = next + STEP };
    do
    :: atomic { serving == mine -> break }
    :: serving != mine
    od;
    wants[_pid] = 0;
    atomic { serving = mine + STEP; mine = 0 };
    goto again
}

ltl served { [] (wants[0] -> <> !wants[0]) }
