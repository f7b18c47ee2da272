//! Which declarations does a program see? Small headers of our own, the same on every system.
//!
//! They are part of the executable and written to a directory of their own when a program is preprocessed. They
//! declare what the library model defines and a few functions it does not, whose calls are then refused by name.

/// The headers, by the names programs include them under.
pub(crate) const HEADERS: &[(&str, &str)] = &[
    ("alloca.h", include_str!("../headers/alloca.h")),
    ("assert.h", include_str!("../headers/assert.h")),
    ("ctype.h", include_str!("../headers/ctype.h")),
    ("errno.h", include_str!("../headers/errno.h")),
    ("float.h", include_str!("../headers/float.h")),
    ("genmc.h", include_str!("../headers/genmc.h")),
    ("inttypes.h", include_str!("../headers/inttypes.h")),
    ("linux/futex.h", include_str!("../headers/linux/futex.h")),
    ("limits.h", include_str!("../headers/limits.h")),
    ("math.h", include_str!("../headers/math.h")),
    ("pthread.h", include_str!("../headers/pthread.h")),
    ("raddle.h", include_str!("../headers/raddle.h")),
    ("setjmp.h", include_str!("../headers/setjmp.h")),
    ("sched.h", include_str!("../headers/sched.h")),
    ("semaphore.h", include_str!("../headers/semaphore.h")),
    ("stdalign.h", include_str!("../headers/stdalign.h")),
    ("stdarg.h", include_str!("../headers/stdarg.h")),
    ("stdatomic.h", include_str!("../headers/stdatomic.h")),
    ("stdbool.h", include_str!("../headers/stdbool.h")),
    ("stddef.h", include_str!("../headers/stddef.h")),
    ("stdint.h", include_str!("../headers/stdint.h")),
    ("stdio.h", include_str!("../headers/stdio.h")),
    ("stdlib.h", include_str!("../headers/stdlib.h")),
    ("stdnoreturn.h", include_str!("../headers/stdnoreturn.h")),
    ("string.h", include_str!("../headers/string.h")),
    ("strings.h", include_str!("../headers/strings.h")),
    ("sys/syscall.h", include_str!("../headers/sys/syscall.h")),
    ("sys/time.h", include_str!("../headers/sys/time.h")),
    ("sys/types.h", include_str!("../headers/sys/types.h")),
    ("threads.h", include_str!("../headers/threads.h")),
    ("time.h", include_str!("../headers/time.h")),
    ("unistd.h", include_str!("../headers/unistd.h")),
];

/// The library model, in C.
pub(crate) const LIBRARY: &str = concat!(
    include_str!("../library/primitives.c"),
    include_str!("../library/memory.c"),
    include_str!("../library/text.c"),
    include_str!("../library/system.c"),
    include_str!("../library/threads.c"),
    include_str!("../library/locks.c"),
    include_str!("../library/futex.c"),
    include_str!("../library/io.c"),
    include_str!("../library/signals.c"),
    include_str!("../library/wide.c"),
    include_str!("../library/jump.c"),
    include_str!("../library/cancel.c"),
    include_str!("../library/everyday.c"),
    include_str!("../library/scan.c"),
);
