//! The programs, and how they are written in C.

use raddle_testkit::Random;
use std::fmt::{self, Display, Formatter};

/// Objects of each thread: three variables, the bit-fields of two structs, the elements of an array.
pub(crate) const PLACES: [&str; 9] = ["r0", "r1", "r2", "s.a", "s.b", "t.a", "t.b", "v[0]", "v[1]"];

/// So many of them are variables, which have any value where they have none; the others are memory.
pub(crate) const VARIABLES: usize = 3;

/// Where the bit-fields are; a struct is two of them.
pub(crate) const FIELDS: std::ops::Range<usize> = 3..7;

pub(crate) type Place = usize;

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Set(Place, u8),
    Copy(Place, Place),
    /// One struct becomes the other: the first the second, or the other way round.
    CopyStruct(bool),
    Load(Place, usize),
    Store(usize, Place),
    Count(usize),
    If(Place, u8, Vec<Stmt>, Vec<Stmt>),
    Locked(usize, Vec<Stmt>),
    /// With a deadline: what is done with the mutex, and what if time is up.
    Timed(usize, Vec<Stmt>, Vec<Stmt>),
    Times(u8, Vec<Stmt>),
    /// So many times at most, as long as the shared object is not this.
    Until(u8, usize, u8, Vec<Stmt>),
    AssertNot(Place, u8),
}

#[derive(Debug)]
pub(crate) struct Program {
    /// What each place holds in the beginning, if anything, and what is done.
    pub(crate) threads: [([Option<u8>; PLACES.len()], Vec<Stmt>); 2],
}

struct Maker<'r> {
    random: &'r mut Random,
    /// The mutexes that are held.
    held: Vec<usize>,
    loops: usize,
}

impl Program {
    pub(crate) fn random(random: &mut Random) -> Self {
        // Of some programs nearly everything has a value.
        let blank = random.pick(&[3, 15, 50]);
        let thread = |random: &mut Random| {
            let mut start = [None; PLACES.len()];
            for (place, value) in start.iter_mut().enumerate() {
                *value = (!random.chance(blank)).then(|| if place < VARIABLES { random.below(4) as u8 } else { 1 });
            }
            // An array and a struct have initialisers as a whole.
            for whole in [3..5, 5..7, 7..9] {
                if start[whole.start].is_none() {
                    start[whole].fill(None);
                } else {
                    start[whole].fill(Some(1));
                }
            }
            let mut maker = Maker { random, held: Vec::new(), loops: 0 };
            let count = maker.random.between(2, 4);
            (start, maker.block(count, 0))
        };
        Program { threads: [thread(random), thread(random)] }
    }
}

impl Maker<'_> {
    fn block(&mut self, count: usize, depth: u32) -> Vec<Stmt> {
        (0..count).map(|_| self.stmt(depth)).collect()
    }

    fn short(&mut self, depth: u32) -> Vec<Stmt> {
        let count = self.random.between(1, 2);
        self.block(count, depth + 1)
    }

    fn place(&mut self) -> Place {
        self.random.below(PLACES.len())
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        let free: Vec<usize> = (0..2).filter(|mutex| !self.held.contains(mutex)).collect();
        let (shared, value) = (self.random.below(2), self.random.below(4) as u8);
        match self.random.below(if depth < 2 { 18 } else { 10 }) {
            0 | 1 => Stmt::Set(self.place(), value),
            2 => Stmt::Copy(self.place(), self.place()),
            3 => Stmt::CopyStruct(self.random.chance(50)),
            4 | 5 => Stmt::Load(self.place(), shared),
            6 => Stmt::Store(shared, self.place()),
            7 => Stmt::Count(shared),
            8 | 9 => Stmt::AssertNot(self.place(), value),
            10 | 11 => Stmt::If(self.place(), value, self.short(depth), self.short(depth)),
            12..=15 if !free.is_empty() => {
                let mutex = self.random.pick(&free);
                self.held.push(mutex);
                let inside = self.short(depth);
                self.held.pop();
                if self.random.chance(40) {
                    Stmt::Timed(mutex, inside, self.short(depth))
                } else {
                    Stmt::Locked(mutex, inside)
                }
            }
            16 if self.loops == 0 => {
                self.loops += 1;
                Stmt::Times(self.random.between(1, 3) as u8, self.short(depth))
            }
            17 if self.loops == 0 => {
                self.loops += 1;
                Stmt::Until(self.random.between(1, 3) as u8, shared, value, self.short(depth))
            }
            _ => Stmt::Load(self.place(), shared),
        }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <time.h>")?;
        writeln!(f, "struct s {{ unsigned a : 3, b : 3; }};\natomic_int g0, g1;")?;
        writeln!(f, "pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;")?;
        writeln!(f, "struct timespec deadline = {{ 1, 0 }};")?;
        for (thread, (start, stmts)) in self.threads.iter().enumerate() {
            writeln!(f, "void *thread{thread}(void *unused) {{")?;
            for (place, value) in start.iter().enumerate().take(VARIABLES) {
                match value {
                    Some(value) => writeln!(f, "    int {} = {value};", PLACES[place])?,
                    None => writeln!(f, "    int {};", PLACES[place])?,
                }
            }
            for (declaration, place) in [("struct s s", 3), ("struct s t", 5), ("int v[2]", 7)] {
                let first = if start[place].is_some() { " = { 1, 1 }" } else { "" };
                writeln!(f, "    {declaration}{first};")?;
            }
            write_block(f, stmts, 1)?;
            writeln!(f, "    return 0;\n}}")?;
        }
        writeln!(f, "int main(void) {{\n    pthread_t t0, t1;\n    pthread_create(&t0, 0, thread0, 0);")?;
        writeln!(f, "    pthread_create(&t1, 0, thread1, 0);\n    pthread_join(t0, 0);\n    pthread_join(t1, 0);")?;
        writeln!(f, "    return 0;\n}}")
    }
}

fn write_block(f: &mut Formatter<'_>, stmts: &[Stmt], indent: usize) -> fmt::Result {
    let pad = "    ".repeat(indent);
    for stmt in stmts {
        match stmt {
            Stmt::Set(place, value) => writeln!(f, "{pad}{} = {value};", PLACES[*place])?,
            Stmt::Copy(to, from) => writeln!(f, "{pad}{} = {};", PLACES[*to], PLACES[*from])?,
            Stmt::CopyStruct(true) => writeln!(f, "{pad}t = s;")?,
            Stmt::CopyStruct(false) => writeln!(f, "{pad}s = t;")?,
            Stmt::Load(place, shared) => writeln!(f, "{pad}{} = atomic_load(&g{shared});", PLACES[*place])?,
            Stmt::Store(shared, place) => writeln!(f, "{pad}atomic_store(&g{shared}, {} & 3);", PLACES[*place])?,
            Stmt::Count(shared) => writeln!(f, "{pad}atomic_fetch_xor(&g{shared}, 1);")?,
            Stmt::AssertNot(place, value) => writeln!(f, "{pad}assert({} != {value});", PLACES[*place])?,
            Stmt::If(place, value, then, otherwise) => {
                writeln!(f, "{pad}if ({} == {value}) {{", PLACES[*place])?;
                write_block(f, then, indent + 1)?;
                writeln!(f, "{pad}}} else {{")?;
                write_block(f, otherwise, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Locked(mutex, inside) => {
                writeln!(f, "{pad}pthread_mutex_lock(&m{mutex});")?;
                write_block(f, inside, indent)?;
                writeln!(f, "{pad}pthread_mutex_unlock(&m{mutex});")?;
            }
            Stmt::Timed(mutex, inside, late) => {
                writeln!(f, "{pad}if (pthread_mutex_timedlock(&m{mutex}, &deadline) == 0) {{")?;
                write_block(f, inside, indent + 1)?;
                writeln!(f, "{pad}    pthread_mutex_unlock(&m{mutex});\n{pad}}} else {{")?;
                write_block(f, late, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Times(times, body) => {
                writeln!(f, "{pad}for (int i = 0; i < {times}; i++) {{")?;
                write_block(f, body, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
            Stmt::Until(most, shared, value, body) => {
                writeln!(f, "{pad}for (int i = 0; i < {most} && atomic_load(&g{shared}) != {value}; i++) {{")?;
                write_block(f, body, indent + 1)?;
                writeln!(f, "{pad}}}")?;
            }
        }
    }
    Ok(())
}
