//! Threads of the flavours X86 and X86_64: a column per thread, a row per instruction, `|` between columns, `;` behind rows.
//!
//! `MOV [x],$1` has its target first; so has everything but what is written as AT&T has it (`movl $1,(x)`, `movl (x),%eax`). Registers and locations have 64 bits, whatever the width
//! of the instruction. A plain access is a relaxed one: under TSO, where these tests are at home, an ordering adds nothing. With `LOCK`, and for `XCHG` with memory, it is a seq_cst
//! read-modify-write; without, a read-modify-write is a load and a store.

mod operand;

use crate::Result_;
use crate::condition;
use crate::cursor::Cursor;
use crate::labels::Labels;
use crate::lex::Kind;
use crate::world::World;
use operand::{Operand, Operands};
use raddle_program::{
    BinOp, Diagnostic, Expr, Function, FunctionBuilder, Op, Ordering, Reg, RmwOp, Span, Term, Type, UnOp, Unwritten,
};
use std::collections::BTreeMap;

/// The cells of a column.
pub(crate) struct Thread<'t> {
    cells: Vec<Cursor<'t>>,
    span: Span,
}

/// The name under which a register is kept, whatever part of it is meant; `None` if it is no register.
pub(crate) fn register(name: &str) -> Option<&'static str> {
    const NAMES: [(&str, &[&str]); 16] = [
        ("rax", &["eax", "ax", "al"]),
        ("rbx", &["ebx", "bx", "bl"]),
        ("rcx", &["ecx", "cx", "cl"]),
        ("rdx", &["edx", "dx", "dl"]),
        ("rsi", &["esi", "si", "sil"]),
        ("rdi", &["edi", "di", "dil"]),
        ("rbp", &["ebp", "bp", "bpl"]),
        ("rsp", &["esp", "sp", "spl"]),
        ("r8", &["r8d", "r8w", "r8b"]),
        ("r9", &["r9d", "r9w", "r9b"]),
        ("r10", &["r10d", "r10w", "r10b"]),
        ("r11", &["r11d", "r11w", "r11b"]),
        ("r12", &["r12d", "r12w", "r12b"]),
        ("r13", &["r13d", "r13w", "r13b"]),
        ("r14", &["r14d", "r14w", "r14b"]),
        ("r15", &["r15d", "r15w", "r15b"]),
    ];
    let name = name.to_ascii_lowercase();
    NAMES.into_iter().find(|(whole, parts)| *whole == name || parts.contains(&name.as_str())).map(|(whole, _)| whole)
}

/// A constant as registers and locations keep it: one of 32 bits has a sign.
pub(crate) fn signed(value: i64) -> i64 {
    u32::try_from(value).map_or(value, |bits| i64::from(bits as i32))
}

/// Cuts the table into columns.
pub(crate) fn threads<'t>(cursor: &mut Cursor<'t>) -> Result_<Vec<Thread<'t>>> {
    let mut threads: Vec<Thread<'t>> = Vec::new();
    loop {
        let span = cursor.span();
        let expected = format!("P{}", threads.len());
        let (name, _) = cursor.word("the threads: P0 | P1 ;")?;
        if name != expected {
            return Err(Diagnostic::new(span, format!("expected the thread `{expected}`, found `{name}`")).into());
        }
        threads.push(Thread { cells: Vec::new(), span });
        if cursor.eat(";") {
            break;
        }
        cursor.expect("|")?;
    }
    while !condition::begins(cursor) {
        let start = cursor.span();
        let mut column = 0;
        loop {
            let from = cursor.position();
            while !cursor.is("|") && !cursor.is(";") && !cursor.at_end() {
                cursor.advance();
            }
            let cell = cursor.part(from, cursor.position());
            match threads.get_mut(column) {
                Some(thread) => thread.cells.push(cell),
                None => {
                    return Err(Diagnostic::new(
                        cell.span(),
                        format!("this row has more than {} columns", threads.len()),
                    )
                    .into());
                }
            }
            column += 1;
            if cursor.at_end() {
                return Err(cursor.error("the last row does not end in `;`"));
            }
            let last = cursor.is(";");
            cursor.advance();
            if last {
                break;
            }
        }
        if column != threads.len() && column != 1 {
            let message = format!("this row has {column} columns, and there are {} threads", threads.len());
            return Err(Diagnostic::new(start, message).into());
        }
    }
    Ok(threads)
}

pub(crate) fn lower(number: usize, thread: &Thread<'_>, world: &mut World) -> Result_<Function> {
    let mut builder = FunctionBuilder::new(format!("P{number}"), &[], None, thread.span);
    let end = builder.block();
    let flags = [builder.reg("compared", Type::I64), builder.reg("with", Type::I64)];
    let mut code =
        Code { world, builder, registers: BTreeMap::new(), labels: Labels::default(), flags, compared: false };
    let Code { world, builder, registers, .. } = &mut code;
    world.begin_registers(number, builder, |builder, name, _| {
        *registers.entry(name.to_owned()).or_insert_with(|| builder.reg(name, Type::I64))
    })?;
    for cell in &thread.cells {
        code.cell(cell.clone())?;
    }
    code.labels.check()?;
    code.builder.terminate(Term::Goto(end));
    code.builder.switch_to(end);
    let Code { world, builder, registers, .. } = &mut code;
    world.end_registers(number, builder, |name| registers.get(name).copied());
    Ok(code.builder.finish())
}

struct Code<'w> {
    world: &'w mut World,
    builder: FunctionBuilder,
    registers: BTreeMap<String, Reg>,
    labels: Labels,
    /// What the flags come from: as if the first had been compared with the second.
    flags: [Reg; 2],
    /// Whether something has set the flags.
    compared: bool,
}

/// The operation of an instruction that combines its operands.
fn combining(name: &str) -> Option<(RmwOp, BinOp)> {
    Some(match name {
        "ADD" | "INC" | "XADD" => (RmwOp::Add, BinOp::Add),
        "SUB" | "DEC" => (RmwOp::Sub, BinOp::Sub),
        "AND" => (RmwOp::And, BinOp::And),
        "OR" => (RmwOp::Or, BinOp::Or),
        "XOR" => (RmwOp::Xor, BinOp::Xor),
        _ => return None,
    })
}

/// The name of an instruction without the letter that says its width.
fn plain_name(name: &str) -> String {
    const NAMES: [&str; 19] = [
        "MOV", "ADD", "SUB", "INC", "DEC", "AND", "OR", "XOR", "CMP", "TEST", "XCHG", "XADD", "CMPXCHG", "LEA", "NOT",
        "NEG", "MOVZ", "MOVS", "IMUL",
    ];
    let name = name.to_ascii_uppercase();
    match name.strip_suffix(['L', 'Q', 'D']) {
        Some(stem) if NAMES.contains(&stem) => stem.to_owned(),
        _ => name,
    }
}

impl Code<'_> {
    /// A cell: labels, then an instruction or nothing.
    fn cell(&mut self, mut cursor: Cursor<'_>) -> Result_<()> {
        while let (Kind::Word(name), Kind::Sign(":")) = (cursor.peek(), cursor.ahead(1)) {
            let span = cursor.span();
            cursor.advance();
            cursor.advance();
            let here = self.labels.define(name, span, &mut self.builder)?;
            self.builder.terminate(Term::Goto(here));
            self.builder.switch_to(here);
        }
        if cursor.at_end() {
            return Ok(());
        }
        let span = cursor.span();
        self.builder.at(span);
        let (mut name, _) = cursor.word("an instruction")?;
        let locked = name.eq_ignore_ascii_case("lock");
        if locked {
            cursor.eat(";");
            name = cursor.word("the instruction that is locked")?.0;
        }
        let name = plain_name(&name);
        self.instruction(&name, locked, &mut cursor, span)?;
        if cursor.at_end() { Ok(()) } else { Err(cursor.wrong("the end of the instruction")) }
    }

    fn instruction(&mut self, name: &str, locked: bool, cursor: &mut Cursor<'_>, span: Span) -> Result_<()> {
        let lockable = ["ADD", "SUB", "AND", "OR", "XOR", "INC", "DEC", "XADD", "CMPXCHG", "XCHG", "NOT", "NEG"];
        if locked && !lockable.contains(&name) {
            return Err(Diagnostic::new(span, format!("`{name}` cannot be locked")).into());
        }
        match name {
            "MFENCE" => self.builder.push(Op::Fence { order: Ordering::SeqCst }),
            "SFENCE" => self.builder.push(Op::Fence { order: Ordering::Release }),
            "LFENCE" => self.builder.push(Op::Fence { order: Ordering::Acquire }),
            "NOP" | "PAUSE" => {}
            "JMP" => self.jump(None, cursor)?,
            "MOV" => {
                let [to, from] = self.two(cursor)?;
                let value = self.read(&from);
                self.write(&to, value, span)?;
            }
            "LEA" => {
                let [to, from] = self.two(cursor)?;
                let Operand::Memory(addr) = from else {
                    return Err(Diagnostic::new(span, "LEA takes an address in memory").into());
                };
                self.world.addresses = true;
                self.write(&to, Expr::cast(raddle_program::CastOp::ZExt, Type::I64, addr), span)?;
            }
            "CMP" | "TEST" => {
                let [a, b] = self.two_compared(cursor)?;
                let (a, b) = (self.read(&a), self.read(&b));
                if name == "CMP" {
                    self.compare(a, b);
                } else {
                    self.compare(Expr::binary(BinOp::And, a, b), Expr::int(Type::I64, 0));
                }
            }
            "XCHG" => {
                let [a, b] = self.two(cursor)?;
                self.exchange(a, b, span)?;
            }
            "INC" | "DEC" => {
                let to = self.one(cursor)?;
                self.combine(name, to, Expr::int(Type::I64, 1), locked, span)?;
            }
            "ADD" | "SUB" | "AND" | "OR" | "XOR" => {
                let [to, from] = self.two(cursor)?;
                let value = self.read(&from);
                self.combine(name, to, value, locked, span)?;
            }
            "XADD" => {
                let [to, from] = self.two(cursor)?;
                let Operand::Register(reg) = from else {
                    return Err(Diagnostic::new(span, "XADD adds a register").into());
                };
                let old = self.combine(name, to, Expr::Reg(reg), locked, span)?;
                self.builder.push(Op::Assign { dst: reg, value: old });
            }
            "NOT" | "NEG" => {
                let to = self.one(cursor)?;
                if locked {
                    return Err(Diagnostic::new(span, format!("LOCK {name} is not supported")).into());
                }
                let op = if name == "NOT" { UnOp::Not } else { UnOp::Neg };
                let value = Expr::unary(op, self.read(&to));
                self.write(&to, value, span)?;
            }
            "CMPXCHG" => {
                let [to, from] = self.two(cursor)?;
                self.compare_exchange(to, from, locked, span)?;
            }
            _ => self.conditional(name, cursor, span)?,
        }
        Ok(())
    }

    /// `JE`, `CMOVE`, `SETE` and their kin.
    fn conditional(&mut self, name: &str, cursor: &mut Cursor<'_>, span: Span) -> Result_<()> {
        let kinds = ["J", "CMOV", "SET"];
        let found = kinds.into_iter().find_map(|kind| Some((kind, name.strip_prefix(kind)?)));
        let Some((kind, cond)) = found.and_then(|(kind, code)| Some((kind, self.flag(code)?))) else {
            let message = format!("the instruction `{name}` is not supported");
            let help = "MOV, LEA, XCHG, ADD, SUB, INC, DEC, AND, OR, XOR, NOT, NEG, CMP, TEST, CMPXCHG, XADD, jumps, CMOV, SET, LOCK and fences are";
            return Err(Diagnostic::new(span, message).help(help).into());
        };
        if !self.compared {
            return Err(Diagnostic::new(span, format!("nothing has set the flags that `{name}` looks at")).into());
        }
        match kind {
            "J" => self.jump(Some(cond), cursor),
            "CMOV" => {
                let [to, from] = self.two(cursor)?;
                let (old, new) = (self.read(&to), self.read(&from));
                self.write(&to, Expr::Select(Box::new(cond), Box::new(new), Box::new(old)), span)
            }
            _ => {
                let to = self.one(cursor)?;
                self.write(&to, Expr::cast(raddle_program::CastOp::ZExt, Type::I64, cond), span)
            }
        }
    }

    /// The condition with this code over the flags.
    fn flag(&self, code: &str) -> Option<Expr> {
        let [a, b] = self.flags.map(Expr::Reg);
        let binary = Expr::binary;
        Some(match code {
            "E" | "Z" => Expr::eq(a, b),
            "NE" | "NZ" => binary(BinOp::Ne, a, b),
            "L" | "NGE" => binary(BinOp::SLt, a, b),
            "LE" | "NG" => binary(BinOp::SLe, a, b),
            "G" | "NLE" => binary(BinOp::SLt, b, a),
            "GE" | "NL" => binary(BinOp::SLe, b, a),
            "B" | "C" | "NAE" => binary(BinOp::ULt, a, b),
            "BE" | "NA" => binary(BinOp::ULe, a, b),
            "A" | "NBE" => binary(BinOp::ULt, b, a),
            "AE" | "NC" | "NB" => binary(BinOp::ULe, b, a),
            "S" => binary(BinOp::SLt, binary(BinOp::Sub, a, b), Expr::int(Type::I64, 0)),
            "NS" => binary(BinOp::SLe, Expr::int(Type::I64, 0), binary(BinOp::Sub, a, b)),
            _ => return None,
        })
    }

    fn jump(&mut self, cond: Option<Expr>, cursor: &mut Cursor<'_>) -> Result_<()> {
        let (label, span) = cursor.word("a label")?;
        let target = self.labels.target(&label, span, &mut self.builder);
        let next = self.builder.block();
        self.builder.terminate(match cond {
            Some(cond) => Term::If(cond, target, next),
            None => Term::Goto(target),
        });
        self.builder.switch_to(next);
        Ok(())
    }

    fn compare(&mut self, a: Expr, b: Expr) {
        self.compared = true;
        for (dst, value) in self.flags.into_iter().zip([a, b]) {
            self.builder.push(Op::Assign { dst, value });
        }
    }

    /// `to = to op value`; the value before.
    fn combine(&mut self, name: &str, to: Operand, value: Expr, locked: bool, span: Span) -> Result_<Expr> {
        let (rmw, op) = combining(name).expect("only those that combine come here");
        let old = self.builder.reg("old", Type::I64);
        match &to {
            Operand::Memory(addr) if locked => {
                let addr = addr.clone();
                let order = Ordering::SeqCst;
                self.builder.push(Op::Rmw {
                    dst: Some(old),
                    op: rmw,
                    ty: Type::I64,
                    addr,
                    operand: value.clone(),
                    order,
                    idle: None,
                });
            }
            _ if locked => return Err(Diagnostic::new(span, "only operations on memory can be locked").into()),
            _ => {
                let found = self.read(&to);
                self.builder.push(Op::Assign { dst: old, value: found });
            }
        }
        let new = self.builder.reg("new", Type::I64);
        self.builder.push(Op::Assign { dst: new, value: Expr::binary(op, Expr::Reg(old), value) });
        if !locked {
            self.write(&to, Expr::Reg(new), span)?;
        }
        self.compare(Expr::Reg(new), Expr::int(Type::I64, 0));
        Ok(Expr::Reg(old))
    }

    fn exchange(&mut self, a: Operand, b: Operand, span: Span) -> Result_<()> {
        let old = self.builder.reg("old", Type::I64);
        match (a, b) {
            (Operand::Memory(addr), Operand::Register(reg)) | (Operand::Register(reg), Operand::Memory(addr)) => {
                // It is locked without being told.
                let (op, order) = (RmwOp::Xchg, Ordering::SeqCst);
                self.builder.push(Op::Rmw {
                    dst: Some(old),
                    op,
                    ty: Type::I64,
                    addr,
                    operand: Expr::Reg(reg),
                    order,
                    idle: None,
                });
                self.builder.push(Op::Assign { dst: reg, value: Expr::Reg(old) });
            }
            (Operand::Register(a), Operand::Register(b)) => {
                self.builder.push(Op::Assign { dst: old, value: Expr::Reg(a) });
                self.builder.push(Op::Assign { dst: a, value: Expr::Reg(b) });
                self.builder.push(Op::Assign { dst: b, value: Expr::Reg(old) });
            }
            _ => return Err(Diagnostic::new(span, "XCHG exchanges a register with memory or a register").into()),
        }
        Ok(())
    }

    /// `RAX` is compared with the target; if they are equal the target becomes the source, otherwise `RAX` the target.
    fn compare_exchange(&mut self, to: Operand, from: Operand, locked: bool, span: Span) -> Result_<()> {
        let (Operand::Memory(addr), Operand::Register(reg)) = (to, from) else {
            return Err(Diagnostic::new(span, "CMPXCHG compares memory and puts a register there").into());
        };
        let rax = self.register("rax");
        let old = self.builder.reg("old", Type::I64);
        let expected = self.builder.reg("expected", Type::I64);
        self.builder.push(Op::Assign { dst: expected, value: Expr::Reg(rax) });
        if locked {
            self.builder.push(Op::Cas {
                dst: Some(old),
                ty: Type::I64,
                addr,
                expected: Expr::Reg(expected),
                desired: Expr::Reg(reg),
                success: Ordering::SeqCst,
                failure: Ordering::SeqCst,
                wait: false,
            });
        } else {
            let found = self.read(&Operand::Memory(addr.clone()));
            self.builder.push(Op::Assign { dst: old, value: found });
            let [same, after] = [(); 2].map(|()| self.builder.block());
            self.builder.terminate(Term::If(Expr::eq(Expr::Reg(old), Expr::Reg(expected)), same, after));
            self.builder.switch_to(same);
            self.write(&Operand::Memory(addr), Expr::Reg(reg), span)?;
            self.builder.terminate(Term::Goto(after));
            self.builder.switch_to(after);
        }
        self.compare(Expr::Reg(expected), Expr::Reg(old));
        self.builder.push(Op::Assign { dst: rax, value: Expr::Reg(old) });
        Ok(())
    }

    fn register(&mut self, name: &str) -> Reg {
        let builder = &mut self.builder;
        *self.registers.entry(name.to_owned()).or_insert_with(|| builder.reg(name, Type::I64))
    }

    fn read(&mut self, operand: &Operand) -> Expr {
        match operand {
            Operand::Register(reg) => Expr::Reg(*reg),
            Operand::Value(value) => value.clone(),
            Operand::Memory(addr) => {
                let dst = self.builder.reg("read", Type::I64);
                let (addr, order) = (addr.clone(), Ordering::Relaxed);
                self.builder.push(Op::Load {
                    dst: Some(dst),
                    ty: Type::I64,
                    addr,
                    order,
                    until: None,
                    unwritten: Unwritten::Error,
                });
                Expr::Reg(dst)
            }
        }
    }

    fn write(&mut self, operand: &Operand, value: Expr, span: Span) -> Result_<()> {
        match operand {
            Operand::Register(dst) => self.builder.push(Op::Assign { dst: *dst, value }),
            Operand::Memory(addr) => {
                let (addr, order) = (addr.clone(), Ordering::Relaxed);
                self.builder.push(Op::Store { ty: Type::I64, addr, value, order });
            }
            Operand::Value(_) => return Err(Diagnostic::new(span, "nothing can be written to a constant").into()),
        }
        Ok(())
    }

    fn one(&mut self, cursor: &mut Cursor<'_>) -> Result_<Operand> {
        Ok(self.operand(cursor)?.0)
    }

    /// The target, then the source.
    fn two(&mut self, cursor: &mut Cursor<'_>) -> Result_<[Operand; 2]> {
        let Operands { first, second, source_first } = self.operands(cursor)?;
        Ok(if source_first { [second, first] } else { [first, second] })
    }

    /// Both operands of a comparison: AT&T has the second one first there as well.
    fn two_compared(&mut self, cursor: &mut Cursor<'_>) -> Result_<[Operand; 2]> {
        let place = cursor.span();
        let Operands { first, second, source_first } = self.operands(cursor)?;
        if matches!((&first, &second), (Operand::Memory(_), Operand::Memory(_))) {
            return Err(Diagnostic::new(place, "only one operand can be in memory").into());
        }
        Ok(if source_first { [second, first] } else { [first, second] })
    }
}
