//! Accesses that are made in pieces.
//!
//! Engines know memory by locations, and two locations do not overlap. Where a program accesses the same bytes with different sizes (a union, memory that is used again for
//! something else), ordinary accesses of the larger size are made of several of the smaller one. An ordinary access need not be one step: if nothing
//! races, nobody sees it half done; and if something does, that is found on a piece.
//!
//! A part of something larger that is moved may have no value ([`Unwritten::Kept`]), and of its pieces some may have one: so they are moved one by one,
//! never put together, where what is loaded is stored in the same block. Elsewhere pieces without a value are zeros.

use crate::Ordering;
use crate::expr::{BinOp, CastOp, Expr};
use crate::inst::{Inst, Op, Unwritten};
use crate::program::{Function, Program, Reg, RegDecl};
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

/// Makes the accesses at these places in pieces. Returns how many there are.
pub fn split(program: &mut Program, pieces: &[Pieces]) -> usize {
    let Program { functions, sources, .. } = program;
    let wanted = |inst: &Inst| {
        let here = |pieces: &&Pieces| {
            (pieces.line, pieces.column) == (inst.span.line, inst.span.column)
                && Path::new(sources.name(inst.span)).ends_with(&pieces.file)
        };
        pieces.iter().filter(here).map(|pieces| pieces.size).min()
    };
    let mut count = 0;
    if pieces.is_empty() {
        return count;
    }
    for function in functions {
        for block in 0..function.blocks.len() {
            let insts = std::mem::take(&mut function.blocks[block].insts);
            let mut moves = moves(&insts, wanted);
            for inst in insts {
                let moved = moved(&inst.op).and_then(|reg| moves.get_mut(&reg));
                let ops = match moved {
                    Some(moved) => {
                        moved.size.and_then(|size| move_in_pieces(function, &inst.op, size, &mut moved.parts))
                    }
                    None => wanted(&inst).and_then(|size| in_pieces(function, &inst.op, size)),
                };
                match ops {
                    Some(ops) => {
                        count += 1;
                        let own = ops.into_iter().map(|op| Inst { op, span: inst.span });
                        function.blocks[block].insts.extend(own);
                    }
                    None => function.blocks[block].insts.push(inst),
                }
            }
        }
    }
    count
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

/// The same access in pieces of this size; `None` if it is none of an ordinary kind, or small enough.
fn in_pieces(function: &mut Function, op: &Op, size: u8) -> Option<Vec<Op>> {
    let (ty, addr, order) = match op {
        Op::Load { ty, addr, order, until: None, .. } | Op::Store { ty, addr, order, .. } => (*ty, addr, *order),
        _ => return None,
    };
    let bytes = u8::try_from(ty.size()).ok().filter(|&bytes| bytes > size && order == Ordering::NonAtomic)?;
    let (whole, piece) = (number(bytes)?, number(size)?);
    let places = (0..bytes / size).map(|at| i64::from(at * size));
    let at = |place: i64| Expr::binary(BinOp::Add, addr.clone(), Expr::int(Type::I64, place));
    let shifted = |op: BinOp, value: Expr, place: i64| Expr::binary(op, value, Expr::int(whole, 8 * place));
    match op {
        Op::Load { dst, unwritten, .. } => {
            let unwritten = if *unwritten == Unwritten::Kept { Unwritten::Zero } else { *unwritten };
            let parts: Vec<(Reg, i64)> = places.map(|place| (register(function, piece), place)).collect();
            let load = |&(part, place): &(Reg, i64)| Op::Load {
                dst: Some(part),
                ty: piece,
                addr: at(place),
                order,
                until: None,
                unwritten,
            };
            let mut ops: Vec<Op> = parts.iter().map(load).collect();
            if let Some(dst) = *dst {
                let part = |(part, place)| shifted(BinOp::Shl, Expr::cast(CastOp::ZExt, whole, Expr::Reg(part)), place);
                let value = parts.into_iter().map(part).reduce(|a, b| Expr::binary(BinOp::Or, a, b))?;
                let value = if ty == Type::Ptr { Expr::cast(CastOp::ZExt, Type::Ptr, value) } else { value };
                ops.push(Op::Assign { dst, value });
            }
            Some(ops)
        }
        Op::Store { value, .. } => {
            let dst = register(function, whole);
            let value = value.clone();
            let value = if ty == Type::Ptr { Expr::cast(CastOp::ZExt, whole, value) } else { value };
            let store = |place: i64| Op::Store {
                ty: piece,
                addr: at(place),
                value: Expr::cast(CastOp::Trunc, piece, shifted(BinOp::LShr, Expr::Reg(dst), place)),
                order,
            };
            Some([Op::Assign { dst, value }].into_iter().chain(places.map(store)).collect())
        }
        _ => None,
    }
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
        assert_eq!(split(&mut program, &places), 2, "the atomic store stays whole");
        crate::validate(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
        let ops: Vec<&Op> = program.functions[0].blocks[0].insts.iter().map(|inst| &inst.op).collect();
        let small = |op: &&&Op| matches!(op, Op::Load { ty: Type::I16, .. } | Op::Store { ty: Type::I16, .. });
        assert_eq!((ops.len(), ops.iter().filter(small).count()), (4 + 1 + 1 + 4 + 1, 8));
        assert_eq!(split(&mut program, &places), 0, "they are small now");
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
