//! The notation of sketches: litmus tests in one line per thread.
//!
//! ```
//! use raddle_oracle::litmus;
//! let sb = litmus(&["W x 1; a=R y", "W y 1; b=R x"]);
//! assert_eq!(sb.threads.len(), 2);
//! ```
//!
//! Statements are separated by `;` or new lines; each variant of [`Stmt`] shows how it is written. Registers are
//! single small letters (`p0`, `p1`, ... for pointers) and private to the thread; every other name is a shared object,
//! whose kind follows from its use. `let x 5`, `let s sem 1`, `let b barrier 2` say what does not follow. Accesses are
//! relaxed unless an ordering is attached: `R.acq x`, `W.rel x 1`, `W.na x 1`, `A.sc x 1`.

use crate::sketch::{At, Cmp, Kind, Object, ObjectId, PtrReg, Reg, Sketch, Stmt, Test, Value};
use raddle_program::{Mailbox, Ordering, RmwOp};

/// The sketch with these threads.
///
/// # Panics
/// If a thread is not in the notation; the message says why. Meant for tests; see [`parse`] for input.
pub fn litmus(threads: &[&str]) -> Sketch {
    let text: Vec<_> = threads.iter().map(|thread| format!("thread\n{thread}\n")).collect();
    parse(&text.concat()).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads a whole listing: declarations, then each thread after the word `thread`.
///
/// # Errors
/// What is wrong, in one line.
pub fn parse(text: &str) -> Result<Sketch, String> {
    let mut parser = Parser { tokens: tokens(text), at: 0, sketch: Sketch::default() };
    while parser.skip_separators() {
        match parser.word()?.as_str() {
            "let" => parser.declaration()?,
            "thread" => {
                // The number of the thread, which listings show.
                if parser.peek().is_some_and(|token| token.parse::<usize>().is_ok()) {
                    parser.at += 1;
                }
                let body = parser.stmts()?;
                parser.sketch.threads.push(body);
            }
            other => return Err(format!("expected `let` or `thread`, found `{other}`")),
        }
    }
    let count = parser.sketch.threads.len();
    let mut wrong = None;
    parser.sketch.for_each(|stmt| {
        if let Stmt::Spawn(thread) | Stmt::Post(thread, _) | Stmt::Join(thread) | Stmt::Await(thread) = *stmt
            && thread >= count
        {
            wrong = Some(thread);
        }
    });
    wrong.map_or(Ok(parser.sketch), |thread| Err(format!("there is no thread {thread}")))
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let flush = |word: &mut String, tokens: &mut Vec<String>| {
        if !word.is_empty() {
            tokens.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '\n' | ';' | '{' | '}' | '<' | '+' | '*' | '=' | '!' => {
                flush(&mut word, &mut tokens);
                let mut token = String::from(if c == '\n' { ';' } else { c });
                if matches!(c, '=' | '!') && chars.peek() == Some(&'=') {
                    chars.next();
                    token.push('=');
                }
                tokens.push(token);
            }
            c if c.is_whitespace() => flush(&mut word, &mut tokens),
            c => word.push(c),
        }
    }
    flush(&mut word, &mut tokens);
    tokens
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
    sketch: Sketch,
}

type Parsed<T> = Result<T, String>;

impl Parser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn word(&mut self) -> Parsed<String> {
        let token = self.peek().ok_or("the text ends too early")?.to_owned();
        self.at += 1;
        Ok(token)
    }

    fn accept(&mut self, token: &str) -> bool {
        let here = self.peek() == Some(token);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.accept(token) {
            return Ok(());
        }
        Err(format!("expected `{token}`, found `{}`", self.peek().unwrap_or("the end")))
    }

    /// Whether anything follows.
    fn skip_separators(&mut self) -> bool {
        while self.accept(";") {}
        self.at < self.tokens.len()
    }

    fn declaration(&mut self) -> Parsed<()> {
        let name = self.word()?;
        let kind = match self.word()?.as_str() {
            "sem" => Kind::Semaphore(self.number()?),
            "barrier" => Kind::Barrier(self.number()?),
            "queue" => Kind::Looper(Mailbox::Queue),
            "bag" => Kind::Looper(Mailbox::Bag),
            "stack" => Kind::Looper(Mailbox::Stack),
            value => Kind::Var(value.parse().map_err(|_| format!("`{value}` is no initial value"))?),
        };
        self.sketch.objects.push(Object { name, kind });
        Ok(())
    }

    fn stmts(&mut self) -> Parsed<Vec<Stmt>> {
        let mut stmts = Vec::new();
        while self.skip_separators() && !matches!(self.peek(), Some("}" | "thread")) {
            stmts.push(self.stmt()?);
        }
        Ok(stmts)
    }

    fn block(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("{")?;
        let stmts = self.stmts()?;
        self.expect("}")?;
        Ok(stmts)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let word = self.word()?;
        word.parse().map_err(|_| format!("`{word}` is no number that fits here"))
    }

    fn object(&mut self, kind: Kind) -> Parsed<ObjectId> {
        let name = self.word()?;
        let objects = &mut self.sketch.objects;
        let found = objects.iter().position(|object| object.name == name).unwrap_or_else(|| {
            objects.push(Object { name: name.clone(), kind });
            objects.len() - 1
        });
        if std::mem::discriminant(&objects[found].kind) != std::mem::discriminant(&kind) {
            return Err(format!("`{name}` is used as two kinds of object"));
        }
        Ok(found)
    }

    fn at(&mut self) -> Parsed<At> {
        if self.accept("*") {
            let name = self.word()?;
            return pointer(&name).map(At::Pointee).ok_or(format!("`{name}` is no pointer register"));
        }
        self.object(Kind::Var(0)).map(At::Object)
    }

    fn ptr(&mut self) -> Parsed<PtrReg> {
        let name = self.word()?;
        pointer(&name).ok_or(format!("`{name}` is no pointer register"))
    }

    fn value(&mut self) -> Parsed<Value> {
        let word = self.word()?;
        if let Ok(value) = word.parse() {
            return Ok(Value::Const(value));
        }
        let reg = register(&word).ok_or(format!("`{word}` is neither a number nor a register"))?;
        let plus = if self.accept("+") { self.number()? } else { 0 };
        Ok(Value::Reg(reg, plus))
    }

    fn cmp(&mut self) -> Parsed<Cmp> {
        match self.word()?.as_str() {
            "==" => Ok(Cmp::Eq),
            "!=" => Ok(Cmp::Ne),
            "<" => Ok(Cmp::Lt),
            other => Err(format!("`{other}` compares nothing")),
        }
    }

    fn test(&mut self) -> Parsed<Test> {
        let word = self.word()?;
        let reg = register(&word).ok_or(format!("`{word}` is no register"))?;
        Ok(Test { reg, cmp: self.cmp()?, value: self.value()? })
    }

    fn otherwise(&mut self) -> Parsed<Vec<Stmt>> {
        if self.accept("else") { self.block() } else { Ok(Vec::new()) }
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let mut word = self.word()?;
        let (mut dst, mut ptr) = (None, None);
        if self.accept("=") {
            dst = register(&word);
            ptr = pointer(&word);
            if dst.is_none() && ptr.is_none() {
                return Err(format!("`{word}` is no register"));
            }
            word = self.word()?;
        }
        let (name, order) = match word.split_once('.') {
            None => (word.as_str(), None),
            Some((name, suffix)) => {
                let order = Ordering::ALL.into_iter().find(|order| order.name() == suffix);
                (name, Some(order.ok_or(format!("`{suffix}` is no ordering"))?))
            }
        };
        let access = order.unwrap_or(Ordering::Relaxed);
        let needed = |reg: Option<Reg>| reg.ok_or(format!("`{name}` needs a register for its result"));
        let needed_ptr = |reg: Option<PtrReg>| reg.ok_or(format!("`{name}` needs a pointer register"));
        Ok(match name {
            "M" => Stmt::Move(self.at()?, self.at()?),
            "R" => Stmt::Load(dst, self.at()?, access),
            "W" => Stmt::Store(self.at()?, self.value()?, access),
            "A" => Stmt::Rmw(dst, RmwOp::Add, self.at()?, self.value()?, access),
            "X" => Stmt::Rmw(dst, RmwOp::Xchg, self.at()?, self.value()?, access),
            "O" => Stmt::Rmw(dst, RmwOp::Or, self.at()?, self.value()?, access),
            "C" => Stmt::Cas(dst, self.at()?, self.value()?, self.value()?, access),
            "XW" | "XU" => Stmt::Idle(needed(dst)?, self.at()?, self.value()?, access, name == "XW"),
            "CW" => Stmt::CasWait(self.at()?, self.value()?, self.value()?, access),
            "wait" => Stmt::Wait(needed(dst)?, self.at()?, self.cmp()?, self.value()?, access),
            "spin" => self.spin()?,
            "F" => Stmt::Fence(order.unwrap_or(Ordering::SeqCst)),
            "S" => Stmt::Fence(Ordering::Release),
            "lock" => Stmt::Lock(self.object(Kind::Mutex)?),
            "trylock" => Stmt::TryLock(dst, self.object(Kind::Mutex)?),
            "unlock" => Stmt::Unlock(self.object(Kind::Mutex)?),
            "rdlock" => Stmt::ReadLock(self.object(Kind::RwLock)?),
            "wrlock" => Stmt::WriteLock(self.object(Kind::RwLock)?),
            "tryrd" => Stmt::TryRwLock(dst, self.object(Kind::RwLock)?, false),
            "trywr" => Stmt::TryRwLock(dst, self.object(Kind::RwLock)?, true),
            "rwunlock" => Stmt::RwUnlock(self.object(Kind::RwLock)?),
            "semwait" => Stmt::SemWait(self.object(Kind::Semaphore(0))?),
            "semtry" => Stmt::SemTry(dst, self.object(Kind::Semaphore(0))?),
            "sempost" => Stmt::SemPost(self.object(Kind::Semaphore(0))?),
            "barrier" => Stmt::Barrier(dst, self.object(Kind::Barrier(2))?),
            "condwait" => Stmt::CondWait(self.object(Kind::Cond)?, self.object(Kind::Mutex)?),
            "signal" => Stmt::Signal(self.object(Kind::Cond)?),
            "broadcast" => Stmt::Broadcast(self.object(Kind::Cond)?),
            "me" => Stmt::Me(needed(dst)?),
            "choose" => Stmt::Choose(needed(dst)?, self.number()?),
            "count" => Stmt::Count(needed(dst)?, self.number()?),
            "loop" => Stmt::Loop(self.block()?),
            "leave" => Stmt::Leave(self.test()?),
            "again" => Stmt::Again(self.test()?),
            "assume" => Stmt::Assume(self.test()?),
            "assert" => Stmt::Assert(self.test()?),
            "if" => Stmt::If(self.test()?, self.block()?, self.otherwise()?),
            "ifnull" => Stmt::IfNull(self.ptr()?, self.block()?, self.otherwise()?),
            "atomic" => Stmt::Atomic(self.block()?),
            "spawn" => Stmt::Spawn(self.number()?),
            "post" => Stmt::Post(self.number()?, self.object(Kind::Looper(Mailbox::Queue))?),
            "join" => Stmt::Join(self.number()?),
            "await" => Stmt::Await(self.number()?),
            "alloc" => Stmt::Alloc(needed_ptr(ptr)?, false),
            "zalloc" => Stmt::Alloc(needed_ptr(ptr)?, true),
            "free" => Stmt::Free(self.ptr()?),
            "RP" => Stmt::LoadPtr(needed_ptr(ptr)?, self.object(Kind::Pointer)?, access),
            "WP" => Stmt::StorePtr(self.object(Kind::Pointer)?, self.ptr()?, access),
            _ => {
                self.at -= 1;
                let Some(dst) = dst else { return Err(format!("`{name}` is no statement")) };
                Stmt::Set(dst, self.value()?)
            }
        })
    }

    fn spin(&mut self) -> Parsed<Stmt> {
        let mut reads = Vec::new();
        for stmt in self.block()? {
            match stmt {
                Stmt::Load(Some(reg), At::Object(x), Ordering::Relaxed) => reads.push((reg, x)),
                _ => return Err("a `spin` loop reads into registers, and does nothing else".into()),
            }
        }
        Ok(Stmt::Spin(reads, self.test()?))
    }
}

fn register(name: &str) -> Option<Reg> {
    match *name.as_bytes() {
        [letter @ b'a'..=b'z'] => Some(Reg(letter - b'a')),
        _ => None,
    }
}

fn pointer(name: &str) -> Option<PtrReg> {
    name.strip_prefix('p')?.parse().ok().map(PtrReg)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = "
        let x 5; let s sem 1; let b barrier 2
        thread 0
        a=R x; R.acq y; W x 1; W.sc y a+1; a=A x 1; A.rel x a; b=X.sc x -2; c=C x 0 1; CW y 0 1
        a=wait.acq x != 3; spin { a=R x; b=R y } a==b+1; F; S; F.acq; F.acqrel
        lock m; unlock m; a=trylock m; rdlock l; wrlock l; a=tryrd l; trywr l; rwunlock l
        semwait s; a=semtry s; sempost s; a=barrier b; condwait c m; signal c; broadcast c
        a=choose 3; assume a<2; assert a==0; b=a+1
        loop { a=R x; again a==1; b=count 2; loop { leave a<1; a=0 }; leave a!=b }
        if a==0 { W x 1; if b!=0 { W y 2 } else { W y 3 } }
        atomic { a=R x; W x a+1 }; spawn 1; join 1
        thread 1
        p0=alloc; p1=zalloc; W.na *p0 1; a=R *p1; WP.rel q p0; p1=RP.acq q; free p0; ifnull p1 { } else { W *p1 1 }";

    #[test]
    fn a_listing_reads_back_as_the_sketch_it_lists() {
        let sketch = parse(EVERYTHING).expect("well formed");
        assert_eq!(parse(&sketch.listing()), Ok(sketch));
    }

    #[test]
    fn every_statement_lowers_to_a_valid_program_whose_lines_are_those_of_the_listing() {
        let sketch = parse(EVERYTHING).expect("well formed");
        let program = sketch.program();
        let listing = sketch.listing();
        let lines: Vec<_> = listing.lines().map(str::trim).collect();
        for function in &program.functions {
            for inst in function.blocks.iter().flat_map(|block| &block.insts) {
                if let raddle_program::Op::Assert { .. } = inst.op {
                    assert_eq!(lines[inst.span.line as usize - 1], "assert a==0");
                }
                if let raddle_program::Op::Free { .. } = inst.op {
                    assert_eq!(lines[inst.span.line as usize - 1], "free p0");
                }
            }
        }
    }

    #[test]
    fn what_is_not_in_the_notation_is_refused_with_a_reason() {
        for (text, reason) in [
            ("thread\nQ x", "`Q` is no statement"),
            ("thread\nR", "too early"),
            ("thread\nlock m; R m", "two kinds"),
            ("thread\nR.foo x", "no ordering"),
            ("thread\nspawn 4", "no thread 4"),
            ("R x", "expected `let` or `thread`"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
