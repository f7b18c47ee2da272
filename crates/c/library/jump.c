/* Jumps out of functions. Where one is under way, every call on the way returns at once, up to the function of the `setjmp`. */

static _Thread_local unsigned long *jump_to;
static _Thread_local int jump_value;

/* The first word of the buffer is the address of an object of the activation that called `setjmp`, which knows its thread. */
static void __raddle_jump(unsigned long **buffer, int value) {
    if (**buffer != __raddle_self() + 1)
        __raddle_misuse_memory("longjmp to a place of another thread");
    jump_to = *buffer;
    jump_value = value == 0 ? 1 : value;
    __raddle_unwind();
}

int __raddle_jumping(void) { return jump_to != 0; }
void *__raddle_jump_target(void) { return jump_to; }

int __raddle_land(void) {
    jump_to = 0;
    return jump_value;
}

void __raddle_keep_mask(unsigned long *buffer, int keep) {
    buffer[1] = keep;
    buffer[2] = blocked;
}

void longjmp(unsigned long **buffer, int value) { __raddle_jump(buffer, value); }
void _longjmp(unsigned long **buffer, int value) { __raddle_jump(buffer, value); }
void __longjmp_chk(unsigned long **buffer, int value) { __raddle_jump(buffer, value); }

void siglongjmp(unsigned long **buffer, int value) {
    if (((unsigned long *)buffer)[1])
        blocked = ((unsigned long *)buffer)[2];
    __raddle_jump(buffer, value);
}
