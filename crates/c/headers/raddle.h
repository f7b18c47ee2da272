#ifndef RADDLE_RADDLE_H
#define RADDLE_RADDLE_H
/* A number from 0 to alternatives - 1, each with the same probability; the argument is a constant. For `raddle check --live`; every other command takes it for a choice. */
int raddle_random(int alternatives);
#endif
