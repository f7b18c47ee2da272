//! Accesses that are made in pieces.
//!
//! Engines know memory by locations, and two locations do not overlap. Where a program accesses the same bytes with different sizes (a union, memory that is used again for
//! something else), accesses of the larger size are made of several of the smaller one. An ordinary access need not be one step: if nothing
//! races, nobody sees it half done; and if something does, that is found on a piece. An atomic access (the two halves of a ticket lock, taken as one word) is
//! one step all the same: its pieces stand in an atomic block. That is what it means under SC; where there are store buffers a block empties them, as
//! a read-modify-write does and an atomic load or store does not. So these are worth a word: [`Split::sc_only`].
//!
//! A part of something larger that is moved may have no value ([`Unwritten::Kept`]), and of its pieces some may have one: they are moved one by one where what is loaded is
//! stored in the same block, and put together [in part](crate::partial) elsewhere.

use crate::Ordering;
use crate::Span;
use crate::expr::{BinOp, CastOp, Expr, Splice, UnOp};
use crate::inst::{Block, Inst, Op, RmwOp, Term, Terminator, Unwritten};
use crate::partial::Field;
use crate::program::{BlockId, Function, Program, Reg, RegDecl};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Ordinary accesses at a place of the source, and of how many bytes their pieces are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// The file; leading folders may be missing.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// 1, 2 or 4.
    pub size: u8,
}

impl fmt::Display for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pieces { file, line, column, size } = self;
        write!(f, "{file}:{line}:{column}={size}")
    }
}

impl FromStr for Pieces {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (place, size) = text.rsplit_once('=')?;
            let (place, column) = place.rsplit_once(':')?;
            let (file, line) = place.rsplit_once(':')?;
            let size = size.parse().ok().filter(|size| [1, 2, 4].contains(size))?;
            Some(Pieces { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()?, size })
        };
        read().ok_or_else(|| {
            format!("`{text}` is no place and size; write queue.c:42:7=1, with pieces of 1, 2 or 4 bytes")
        })
    }
}

/// What [`split`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// How many accesses are made in pieces.
    pub count: usize,
    /// An atomic load or store among them, which is one step under SC alone.
    pub sc_only: Option<Span>,
}

/// Makes the accesses at these places in pieces.
pub fn split(program: &mut Program, pieces: &[Pieces]) -> Split {
    let Program { functions, sources, .. } = program;
    let wanted = |inst: &Inst| {
        let here = |pieces: &&Pieces| {
            (pieces.line, pieces.column) == (inst.span.line, inst.span.column)
                && Path::new(sources.name(inst.span)).ends_with(&pieces.file)
        };
        pieces.iter().filter(here).map(|pieces| pieces.size).min()
    };
    let mut made = Split::default();
    if pieces.is_empty() {
        return made;
    }
    for function in functions {
        for block in 0..function.blocks.len() {
            let insts = std::mem::take(&mut function.blocks[block].insts);
            let mut moves = moves(&insts, wanted);
            // Where what comes next goes: behind a compare-exchange in pieces that is another block.
            let (mut block, mut here) = (block, Vec::new());
            for inst in insts {
                let span = inst.span;
                let own = |op: Op| Inst { op, span };
                if let Some(moved) = moved(&inst.op).and_then(|reg| moves.get_mut(&reg)) {
                    let ops = moved.size.and_then(|size| move_in_pieces(function, &inst.op, size, &mut moved.parts));
                    made.count += usize::from(ops.is_some());
                    match ops {
                        Some(ops) => here.extend(ops.into_iter().map(own)),
                        None => here.push(inst),
                    }
                    continue;
                }
                let Some(size) = wanted(&inst).filter(|&size| is_larger(&inst.op, size)) else {
                    here.push(inst);
                    continue;
                };
                made.count += 1;
                match inst.op {
                    Op::Load { order, .. } | Op::Store { order, .. } => {
                        let atomic = order != Ordering::NonAtomic;
                        if atomic {
                            made.sc_only = made.sc_only.or(Some(span));
                            here.push(own(Op::AtomicBegin));
                        }
                        here.extend(in_pieces(function, &inst.op, size).into_iter().map(own));
                        here.extend(atomic.then(|| own(Op::AtomicEnd)));
                    }
                    Op::Rmw { .. } => here.extend(update_in_pieces(function, inst.op, size).into_iter().map(own)),
                    Op::Cas { .. } => {
                        let halves = exchange_in_pieces(function, inst.op, size);
                        here.extend(halves.before.into_iter().map(own));
                        let [taken, done] = [0, 1].map(|at| BlockId((function.blocks.len() + at) as u32));
                        let branch = Terminator { kind: Term::If(halves.won, taken, done), span };
                        let term = std::mem::replace(&mut function.blocks[block].term, branch);
                        function.blocks[block].insts = here;
                        let insts = halves.taken.into_iter().map(own).collect();
                        let join = Terminator { kind: Term::Goto(done), span };
                        function.blocks.push(Block { turn: None, insts, term: join });
                        function.blocks.push(Block { turn: None, insts: Vec::new(), term });
                        block = done.index();
                        here = halves.after.into_iter().map(own).collect();
                    }
                    other => here.push(own(other)),
                }
            }
            function.blocks[block].insts = here;
        }
    }
    made
}

/// Whether it is an access that can be made in pieces of this size.
fn is_larger(op: &Op, size: u8) -> bool {
    match op {
        Op::Load { ty, until: None, .. }
        | Op::Store { ty, .. }
        | Op::Rmw { ty, idle: None, .. }
        | Op::Cas { ty, .. } => u8::try_from(ty.size()).is_ok_and(|bytes| bytes > size && number(bytes).is_some()),
        _ => false,
    }
}

/// A value that is moved from one place to others in one block.
#[derive(Debug, Default)]
struct Moved {
    /// Of how many bytes the pieces are, for all the places.
    size: Option<u8>,
    /// The pieces that have been loaded.
    parts: Vec<Reg>,
}

/// The register by which something is moved, if the instruction loads it or stores it.
fn moved(op: &Op) -> Option<Reg> {
    match op {
        Op::Load { dst: Some(reg), unwritten: Unwritten::Kept, order: Ordering::NonAtomic, .. }
        | Op::Store { value: Expr::Reg(reg), order: Ordering::NonAtomic, .. } => Some(*reg),
        _ => None,
    }
}

/// What is loaded in this block, whether it has a value or not, and is only stored.
fn moves(insts: &[Inst], wanted: impl Fn(&Inst) -> Option<u8>) -> FxHashMap<Reg, Moved> {
    let mut moves: FxHashMap<Reg, Moved> = FxHashMap::default();
    let mut stored = FxHashSet::default();
    for inst in insts {
        match (moved(&inst.op), &inst.op) {
            (Some(reg), Op::Load { .. }) => {
                moves.insert(reg, Moved { size: wanted(inst), parts: Vec::new() });
            }
            (Some(reg), _) => {
                if let Some(moved) = moves.get_mut(&reg) {
                    moved.size = [moved.size, wanted(inst)].into_iter().flatten().min();
                    stored.insert(reg);
                }
            }
            _ => {}
        }
    }
    moves.retain(|reg, _| stored.contains(reg));
    moves
}

/// The load or a store of something that is moved, in pieces.
fn move_in_pieces(function: &mut Function, op: &Op, size: u8, parts: &mut Vec<Reg>) -> Option<Vec<Op>> {
    let (Op::Load { ty, addr, order, .. } | Op::Store { ty, addr, order, .. }) = op else { return None };
    let piece = number(size)?;
    let bytes = u8::try_from(ty.size()).ok().filter(|&bytes| bytes > size)?;
    let places = (0..bytes / size).map(|at| i64::from(at * size));
    let at = |place: i64| Expr::binary(BinOp::Add, addr.clone(), Expr::int(Type::I64, place));
    let order = *order;
    if let Op::Load { .. } = op {
        let unwritten = Unwritten::Kept;
        *parts = places.clone().map(|_| register(function, piece)).collect();
        let load = |(place, &part): (i64, &Reg)| Op::Load {
            dst: Some(part),
            ty: piece,
            addr: at(place),
            order,
            until: None,
            unwritten,
        };
        return Some(places.zip(&*parts).map(load).collect());
    }
    let store = |(place, &part): (i64, &Reg)| Op::Store { ty: piece, addr: at(place), value: Expr::Reg(part), order };
    Some(places.zip(&*parts).map(store).collect())
}

/// The type of a number of so many bytes.
fn number(bytes: u8) -> Option<Type> {
    match bytes {
        1 => Some(Type::I8),
        2 => Some(Type::I16),
        4 => Some(Type::I32),
        8 => Some(Type::I64),
        _ => None,
    }
}

fn register(function: &mut Function, ty: Type) -> Reg {
    let reg = Reg(function.regs.len() as u32);
    function.regs.push(RegDecl { name: format!("piece.{}", reg.0), ty });
    reg
}

/// An address, and the type of what stands there, in pieces.
struct Parts {
    /// The type of the access.
    ty: Type,
    /// That of a number of as many bytes.
    whole: Type,
    piece: Type,
    addr: Expr,
    order: Ordering,
}

impl Parts {
    fn new(ty: Type, addr: Expr, order: Ordering, size: u8) -> Self {
        let whole = number(ty.size() as u8).expect("it has been asked whether it can be made in pieces");
        let piece = number(size).expect("pieces have 1, 2 or 4 bytes");
        Parts { ty, whole, piece, addr, order }
    }

    fn places(&self) -> impl Iterator<Item = i64> + use<> {
        let size = self.piece.size() as i64;
        (0..self.whole.size() as i64 / size).map(move |at| at * size)
    }

    fn at(&self, place: i64) -> Expr {
        Expr::binary(BinOp::Add, self.addr.clone(), Expr::int(Type::I64, place))
    }

    fn shifted(&self, op: BinOp, value: Expr, place: i64) -> Expr {
        Expr::binary(op, value, Expr::int(self.whole, 8 * place))
    }

    /// A value of the access as a number, and the other way round.
    fn to_number(&self, value: Expr) -> Expr {
        if self.ty == Type::Ptr { Expr::cast(CastOp::ZExt, self.whole, value) } else { value }
    }

    fn to_value(&self, number: Expr) -> Expr {
        if self.ty == Type::Ptr { Expr::cast(CastOp::ZExt, Type::Ptr, number) } else { number }
    }

    /// Reads the pieces; the number that they are together.
    fn load(&self, function: &mut Function, unwritten: Unwritten, ops: &mut Vec<Op>) -> Expr {
        let order = match self.order {
            Ordering::Release | Ordering::AcqRel => Ordering::SeqCst,
            order => order,
        };
        let mut value = None;
        for place in self.places() {
            let part = register(function, self.piece);
            let addr = self.at(place);
            let here = self.needs(unwritten, place);
            ops.push(Op::Load { dst: Some(part), ty: self.piece, addr, order, until: None, unwritten: here });
            if unwritten == Unwritten::Kept {
                let to = Field { shift: 8 * place as u8, width: self.piece.bits() as u8 };
                let whole = value.unwrap_or_else(|| Expr::int(self.whole, 0));
                value = Some(Expr::binary(BinOp::Splice(Splice { to, from: 0 }), whole, Expr::Reg(part)));
                continue;
            }
            let part = self.shifted(BinOp::Shl, Expr::cast(CastOp::ZExt, self.whole, Expr::Reg(part)), place);
            value = Some(match value {
                None => part,
                Some(lower) => Expr::binary(BinOp::Or, lower, part),
            });
        }
        value.expect("there are pieces")
    }

    /// What the load of a piece needs of it.
    fn needs(&self, unwritten: Unwritten, place: i64) -> Unwritten {
        let Unwritten::Field(Field { shift, width }) = unwritten else { return unwritten };
        let (start, bits) = (8 * place as u8, self.piece.bits() as u8);
        let (from, to) = (shift.max(start), (shift + width).min(start + bits));
        if from < to { Unwritten::Field(Field { shift: from - start, width: to - from }) } else { Unwritten::Zero }
    }

    /// Writes the pieces of the number in a register, which need not have a value everywhere.
    fn store(&self, number: Reg, ops: &mut Vec<Op>) {
        let order = match self.order {
            Ordering::Acquire | Ordering::AcqRel => Ordering::SeqCst,
            order => order,
        };
        for place in self.places() {
            let to = Field { shift: 0, width: self.piece.bits() as u8 };
            let op = BinOp::Splice(Splice { to, from: 8 * place as u8 });
            let value = Expr::binary(op, Expr::int(self.piece, 0), Expr::Reg(number));
            ops.push(Op::Store { ty: self.piece, addr: self.at(place), value, order });
        }
    }

    /// Writes the pieces of the number in a register as the second half of a read-modify-write. Each is a read-modify-write itself, so that what it
    /// finds, if it was released, stays so (C11 5.1.2.4p10).
    fn update(&self, number: Reg, ops: &mut Vec<Op>) {
        let order = self.order;
        for place in self.places() {
            let operand = Expr::cast(CastOp::Trunc, self.piece, self.shifted(BinOp::LShr, Expr::Reg(number), place));
            let (addr, ty) = (self.at(place), self.piece);
            ops.push(Op::Rmw { dst: None, op: RmwOp::Xchg, ty, addr, operand, order, idle: None });
        }
    }

    /// Puts a number in a register of its own.
    fn keep(&self, function: &mut Function, number: Expr, ops: &mut Vec<Op>) -> Reg {
        let dst = register(function, self.whole);
        ops.push(Op::Assign { dst, value: number });
        dst
    }
}

/// The same load or store in pieces of this size.
fn in_pieces(function: &mut Function, op: &Op, size: u8) -> Vec<Op> {
    let mut ops = Vec::new();
    match op {
        Op::Load { dst, ty, addr, order, unwritten, .. } => {
            let parts = Parts::new(*ty, addr.clone(), *order, size);
            let number = parts.load(function, *unwritten, &mut ops);
            ops.extend(dst.map(|dst| Op::Assign { dst, value: parts.to_value(number) }));
        }
        Op::Store { ty, addr, value, order } => {
            let parts = Parts::new(*ty, addr.clone(), *order, size);
            let number = parts.keep(function, parts.to_number(value.clone()), &mut ops);
            parts.store(number, &mut ops);
        }
        _ => unreachable!("only loads and stores come here"),
    }
    ops
}

/// The same read-modify-write in one step of several pieces.
fn update_in_pieces(function: &mut Function, op: Op, size: u8) -> Vec<Op> {
    let Op::Rmw { dst, op, ty, addr, operand, order, .. } = op else { unreachable!("only updates come here") };
    let parts = Parts::new(ty, addr, order, size);
    // The result goes to its register last: the address or the operand may be in it.
    let mut ops = vec![Op::AtomicBegin];
    let old = parts.load(function, Unwritten::Error, &mut ops);
    let old = parts.keep(function, old, &mut ops);
    let operand = parts.keep(function, parts.to_number(operand), &mut ops);
    let new = updated(op, Expr::Reg(old), Expr::Reg(operand));
    let new = parts.keep(function, new, &mut ops);
    parts.update(new, &mut ops);
    ops.push(Op::AtomicEnd);
    ops.extend(dst.map(|dst| Op::Assign { dst, value: parts.to_value(Expr::Reg(old)) }));
    ops
}

/// What an update leaves.
fn updated(op: RmwOp, old: Expr, operand: Expr) -> Expr {
    let simple = |op| Expr::binary(op, old.clone(), operand.clone());
    let least = |less, a: &Expr, b: &Expr| {
        let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
        Expr::Select(Box::new(Expr::Binary(less, a.clone(), b.clone())), a, b)
    };
    match op {
        RmwOp::Add => simple(BinOp::Add),
        RmwOp::Sub => simple(BinOp::Sub),
        RmwOp::And => simple(BinOp::And),
        RmwOp::Or => simple(BinOp::Or),
        RmwOp::Xor => simple(BinOp::Xor),
        RmwOp::Nand => Expr::Unary(UnOp::Not, Box::new(simple(BinOp::And))),
        RmwOp::Xchg => operand,
        RmwOp::Min => least(BinOp::SLt, &old, &operand),
        RmwOp::UMin => least(BinOp::ULt, &old, &operand),
        RmwOp::Max | RmwOp::UMax => {
            let less = if op == RmwOp::Max { BinOp::SLt } else { BinOp::ULt };
            let smaller = Expr::binary(less, old.clone(), operand.clone());
            Expr::Select(Box::new(smaller), Box::new(operand), Box::new(old))
        }
    }
}

/// A compare-exchange in one step of several pieces.
struct Halves {
    before: Vec<Op>,
    /// Whether what was there is what was expected.
    won: Expr,
    /// What is done then.
    taken: Vec<Op>,
    after: Vec<Op>,
}

fn exchange_in_pieces(function: &mut Function, op: Op, size: u8) -> Halves {
    let Op::Cas { dst, ty, addr, expected, desired, success, .. } = op else {
        unreachable!("only exchanges come here")
    };
    // The addresses and values are computed once, because one of them may be in the register that the result goes to.
    let mut before = Vec::new();
    let place = register(function, Type::Ptr);
    before.push(Op::Assign { dst: place, value: addr });
    let parts = Parts::new(ty, Expr::Reg(place), success, size);
    let expected = parts.keep(function, parts.to_number(expected), &mut before);
    let desired = parts.keep(function, parts.to_number(desired), &mut before);
    before.push(Op::AtomicBegin);
    let old = parts.load(function, Unwritten::Error, &mut before);
    let old = parts.keep(function, old, &mut before);
    let mut taken = Vec::new();
    parts.update(desired, &mut taken);
    let mut after = vec![Op::AtomicEnd];
    after.extend(dst.map(|dst| Op::Assign { dst, value: parts.to_value(Expr::Reg(old)) }));
    Halves { before, won: Expr::binary(BinOp::Eq, Expr::Reg(old), Expr::Reg(expected)), taken, after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_access_is_made_in_pieces() {
        let text = "global x: i64; global y: i64;
fn main() {
    let r = load.na x;
    store.na y, r;
    store.rlx y, r;
}";
        let mut program = crate::parse("dir/test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        let place = |line: u32, inst: usize| {
            let span = program.functions[0].blocks[0].insts[inst].span;
            assert_eq!(span.line, line);
            Pieces { file: "test.rdl".into(), line, column: span.column, size: 2 }
        };
        let places = [place(3, 0), place(4, 1), place(5, 2)];
        let made = split(&mut program, &places);
        assert_eq!((made.count, made.sc_only.map(|span| span.line)), (3, Some(5)), "the atomic store is one step");
        crate::validate(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
        let ops: Vec<&Op> = program.functions[0].blocks[0].insts.iter().map(|inst| &inst.op).collect();
        let small = |op: &&&Op| matches!(op, Op::Load { ty: Type::I16, .. } | Op::Store { ty: Type::I16, .. });
        assert_eq!((ops.len(), ops.iter().filter(small).count()), (4 + 1 + 1 + 4 + 2 + 1 + 4, 12));
        assert_eq!(split(&mut program, &places), Split::default(), "they are small now");
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        let read: Pieces = "a:b.c:42:7=2".parse().expect("a place");
        assert_eq!(read, Pieces { file: "a:b.c".into(), line: 42, column: 7, size: 2 });
        assert_eq!(read.to_string(), "a:b.c:42:7=2");
        for wrong in ["", "x.c:1:2", "x.c:1=1", "x.c:1:2=3", "x.c:a:2=1", "x.c:1:2=8"] {
            assert!(wrong.parse::<Pieces>().is_err(), "{wrong}");
        }
    }
}
