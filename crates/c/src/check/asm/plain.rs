//! Instructions of x86 that are no locked read-modify-writes of one number: moves, comparisons and jumps, single bits, two numbers at once.
//!
//! A load is an acquire load and a store a release store: that is what the machine makes of them, and what code that is written in assembly relies on.
//! Jumps become jumps of the function to labels of their own, so that loops that wait are recognised as such.

use super::{Reading, operand, parse_number, split_operands, tie};
use crate::check::{Checked, Checker};
use crate::ctype::{IntKind, Ty};
use crate::syntax::{AsmOperand, BinaryOp};
use crate::token::{Name, Pos};
use crate::tree::{Builtin, Expr, ExprKind, Order, RmwKind, Stmt, StmtKind, Storage, Var, VarId};
use raddle_program::Ordering;
use std::rc::Rc;

pub(super) const WORD: Ty = Ty::Int(IntKind::ULLong);

/// Whether this can be the name of a label.
pub(super) fn is_label(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// Whether this loads two numbers at once, as is done by a compare-exchange of whatever the registers hold with the same: it changes nothing, so they may hold zeros.
pub(super) fn is_wide_load(list: &[String]) -> bool {
    let copies = |text: &str, from: &str, to: &str| {
        let operands = text.strip_prefix("mov").map(|rest| split_operands(rest.trim_start_matches(['l', 'q'])));
        operands.is_some_and(|both| matches!(&both[..], [a, b] if register(a) == Some(from) && register(b) == Some(to)))
    };
    let [first, second, exchange] = list else { return false };
    let both = |a: &str, b: &str| copies(a, "rdx", "rcx") && copies(b, "rax", "rbx");
    (both(first, second) || both(second, first))
        && ["lock cmpxchg16b ", "lock cmpxchg8b "].iter().any(|name| exchange.starts_with(name))
}

/// The register of 64 bits that a name is, or is a part of.
fn register(text: &str) -> Option<&'static str> {
    const NAMES: [(&str, [&str; 4]); 6] = [
        ("rax", ["rax", "eax", "ax", "al"]),
        ("rbx", ["rbx", "ebx", "bx", "bl"]),
        ("rcx", ["rcx", "ecx", "cx", "cl"]),
        ("rdx", ["rdx", "edx", "dx", "dl"]),
        ("rsi", ["rsi", "esi", "si", "sil"]),
        ("rdi", ["rdi", "edi", "di", "dil"]),
    ];
    let name = text.strip_prefix('%')?;
    NAMES.iter().find(|(_, all)| all.contains(&name)).map(|(whole, _)| *whole)
}

impl Checker {
    /// Gives the labels of a template names that nothing else in the function has.
    pub(super) fn name_labels(&mut self, reading: &mut Reading<'_>) -> Checked<()> {
        for at in 0..reading.list.len() {
            if reading.list[at].ends_with(':') {
                let name: Name = format!("<asm {} {}>", reading.pos.0, self.label_count(reading.pos)?).into();
                self.label_of(&name, reading.pos, false)?;
                reading.labels.push((at, name));
            }
        }
        Ok(())
    }

    /// Labels and jumps; whether it was one.
    pub(super) fn control(&mut self, reading: &mut Reading<'_>, at: usize, text: &str) -> Checked<bool> {
        let pos = reading.pos;
        if text.ends_with(':') {
            let name = reading.labels.iter().find(|(place, _)| *place == at).expect("it was named").1.clone();
            let id = self.label_of(&name, pos, true)?;
            reading.out.push(Stmt { kind: StmtKind::Label(id), pos });
            return Ok(true);
        }
        let Some((jump, target)) = text.split_once(' ').filter(|(jump, _)| jump.starts_with('j')) else {
            return Ok(false);
        };
        let target = target.trim();
        let (label, ahead) = match (target.strip_suffix('f'), target.strip_suffix('b')) {
            (Some(label), _) if label.parse::<u32>().is_ok() => (label, Some(true)),
            (_, Some(label)) if label.parse::<u32>().is_ok() => (label, Some(false)),
            _ => (target, None),
        };
        let here = |place: usize| reading.list[place].trim_end_matches(':') == label;
        let found = match ahead {
            Some(true) => reading.labels.iter().find(|(place, _)| *place > at && here(*place)),
            Some(false) => reading.labels.iter().rev().find(|(place, _)| *place < at && here(*place)),
            None => reading.labels.iter().find(|(place, _)| here(*place)),
        };
        let Some((_, name)) = found.cloned() else { return Err(self.refuse(pos, text)) };
        let id = self.label_of(&name, pos, false)?;
        let goto = Stmt { kind: StmtKind::Goto(id), pos };
        if jump == "jmp" {
            reading.out.push(goto);
        } else {
            let condition = self.flag_value(reading, &jump[1..])?;
            reading.out.push(Stmt { kind: StmtKind::If(condition, Box::new(goto), None), pos });
        }
        Ok(true)
    }

    /// Moves and comparisons.
    pub(super) fn plain(
        &mut self,
        reading: &mut Reading<'_>,
        name: &str,
        operands: &[String],
        text: &str,
    ) -> Checked<()> {
        let stem = |op: &str| {
            name == op || (name.len() == op.len() + 1 && name.starts_with(op) && name.ends_with(['b', 'w', 'l', 'q']))
        };
        let [source, target] = operands else { return Err(self.refuse(reading.pos, text)) };
        let pos = reading.pos;
        if stem("mov") {
            let output = operand(reading.asm, target).and_then(|index| self.output_of(reading.asm, index));
            reading.moved = match output {
                Some(index) => Some(self.expr(&reading.asm.outputs[index].expr)?.ty.value().ty),
                None => None,
            };
            let value = self.read(reading, source, text)?;
            reading.moved = Some(value.ty.ty.clone());
            return self.write(reading, target, value, text);
        }
        if stem("sbb") && source == target {
            let carry = self.flag_value(reading, "c")?;
            let zero = self.int(0, pos);
            let value = self.binary(BinaryOp::Sub, zero, carry, pos)?;
            return self.write(reading, target, value, text);
        }
        if stem("cmp") || stem("test") {
            let (a, b) = (self.read(reading, source, text)?, self.read(reading, target, text)?);
            let ty = b.ty.ty.clone();
            let equal = if stem("cmp") {
                let a = self.convert(a, &ty)?;
                self.binary(BinaryOp::Eq, b, a, pos)?
            } else {
                let word = |c: &mut Self, value| c.convert(value, &WORD);
                let (a, b) = (word(self, a)?, word(self, b)?);
                let both = self.binary(BinaryOp::And, a, b, pos)?;
                let zero = self.int(0, pos);
                self.binary(BinaryOp::Eq, both, zero, pos)?
            };
            let flag = self.keep(reading, "flag", equal);
            (reading.flag, reading.carry) = (Some(self.kept(flag, pos)), None);
            return Ok(());
        }
        Err(self.refuse(pos, text))
    }

    /// The value of an operand: a constant, a register, an input, memory.
    pub(super) fn read(&mut self, reading: &mut Reading<'_>, text: &str, instruction: &str) -> Checked<Expr> {
        let pos = reading.pos;
        if let Some(number) = text.strip_prefix('$') {
            return parse_number(number).map(|n| self.int(n, pos)).ok_or_else(|| self.refuse(pos, instruction));
        }
        if let Some(name) = register(text) {
            let held = reading.registers.iter().find(|(known, _)| known == name).map(|(_, id)| *id);
            return held.map(|id| self.kept(id, pos)).ok_or_else(|| self.refuse(pos, instruction));
        }
        if let Some(object) = self.memory(reading, text)? {
            let ty = object.ty.value().ty;
            let load = self.asm_builtin(Builtin::AtomicLoad(Order::Known(Ordering::Acquire)), vec![object], ty, pos);
            // It is one load, however often its value is asked for.
            let id = self.keep(reading, "loaded", load);
            return Ok(self.kept(id, pos));
        }
        self.input_value(reading, text, instruction).or_else(|refused| {
            // An output that was written before.
            let output = operand(reading.asm, text).and_then(|index| reading.asm.outputs.get(index));
            output.map_or(Err(refused), |output| self.rvalue_of(&output.expr))
        })
    }

    pub(super) fn write(
        &mut self,
        reading: &mut Reading<'_>,
        text: &str,
        value: Expr,
        instruction: &str,
    ) -> Checked<()> {
        let pos = reading.pos;
        if let Some(name) = register(text) {
            let value = self.convert(value, &WORD)?;
            let id = self.keep(reading, "register", value);
            reading.registers.retain(|(known, _)| known != name);
            reading.registers.push((name.to_owned(), id));
            return Ok(());
        }
        if let Some(object) = self.memory(reading, text)? {
            let value = self.convert(value, &object.ty.value().ty)?;
            let order = Order::Known(Ordering::Release);
            let store = self.asm_builtin(Builtin::AtomicStore(order), vec![object, value], Ty::Void, pos);
            self.push(reading, store);
            return Ok(());
        }
        let index = operand(reading.asm, text).and_then(|index| self.output_of(reading.asm, index));
        match index {
            Some(index) => self.assign_part(reading, index, value),
            None => Err(self.refuse(pos, instruction)),
        }
    }

    /// The object in memory that an operand is: one with such a constraint, or so many bytes behind a pointer.
    fn memory(&mut self, reading: &Reading<'_>, text: &str) -> Checked<Option<Expr>> {
        let pos = reading.pos;
        if let Some((distance, base)) = text.split_once('(') {
            let base = base.trim_end_matches(')');
            let Some(distance) = (if distance.is_empty() { Some(0) } else { parse_number(distance) }) else {
                return Ok(None);
            };
            if register(base).is_some() || base.contains(',') {
                return Ok(None);
            }
            let pointer = self.input_value(reading, base, text)?;
            let pointer = self.convert(pointer, &Ty::Void.plain().pointer())?;
            let distance = self.int(distance, pos);
            let moved = self.binary(BinaryOp::Add, pointer, distance, pos)?;
            let typed = self.convert(moved, &WORD.plain().pointer())?;
            return self.deref(typed, pos).map(Some);
        }
        self.memory_operand(reading, text, Some(reading.moved.as_ref().unwrap_or(&WORD)))
    }

    /// `lock; bts` and its like. A bit that is no constant may be one of another word behind the first.
    pub(super) fn bit_update(
        &mut self,
        reading: &mut Reading<'_>,
        op: &str,
        bit: &str,
        place: &str,
        text: &str,
    ) -> Checked<()> {
        let pos = reading.pos;
        // A bit of something wider is the same bit.
        let wanted = reading.bits.take();
        let Some(mut object) = self.memory_operand(reading, place, Some(&WORD))? else {
            return Err(self.refuse(pos, text));
        };
        if wanted > self.types.size(&object.ty.ty).map(|bytes| 8 * bytes) {
            reading.bits = wanted;
            object = self.memory_operand(reading, place, Some(&WORD))?.unwrap_or(object);
        }
        let ty = object.ty.value().ty;
        let Some(bits) = ty.int().and_then(|_| self.types.size(&ty)).map(|bytes| 8 * bytes as i64) else {
            return Err(self.refuse(pos, text));
        };
        let index = self.read(reading, bit, text)?;
        let index = self.convert(index, &Ty::Int(IntKind::LLong))?;
        let known = self.known_int(&index).is_some();
        let index = self.keep(reading, "bit", index);
        let [shift, mask] = [bits.trailing_zeros() as i64, bits - 1].map(|n| self.int(n, pos));
        let within = self.binary(BinaryOp::And, self.kept(index, pos), mask, pos)?;
        let within = self.keep(reading, "within", within);
        let object = if known {
            object
        } else {
            let words = self.binary(BinaryOp::Shr, self.kept(index, pos), shift, pos)?;
            let first = self.address_of(object, pos)?;
            let moved = self.binary(BinaryOp::Add, first, words, pos)?;
            self.deref(moved, pos)?
        };
        let one = self.int(1, pos);
        let one = self.convert(one, &ty)?;
        let single = self.binary(BinaryOp::Shl, one, self.kept(within, pos), pos)?;
        let single = self.convert(single, &ty)?;
        let (kind, value) = match op {
            "bts" => (RmwKind::Or, single),
            "btc" => (RmwKind::Xor, single),
            _ => {
                let all = self.int(-1, pos);
                let all = self.convert(all, &ty)?;
                let others = self.binary(BinaryOp::Xor, all, single, pos)?;
                (RmwKind::And, self.convert(others, &ty)?)
            }
        };
        let builtin = Builtin::AtomicRmw { op: kind, order: Order::Known(Ordering::SeqCst), new: false };
        let old = self.asm_builtin(builtin, vec![object, value], ty, pos);
        let old = self.keep(reading, "old", old);
        let wide = self.convert(self.kept(old, pos), &WORD)?;
        let moved = self.binary(BinaryOp::Shr, wide, self.kept(within, pos), pos)?;
        let one = self.int(1, pos);
        let was = self.binary(BinaryOp::And, moved, one, pos)?;
        let was = self.convert(was, &Ty::INT)?;
        let was = self.keep(reading, "was", was);
        (reading.carry, reading.flag) = (Some(self.kept(was, pos)), None);
        Ok(())
    }

    /// `lock; cmpxchg16b` and `lock; cmpxchg8b`: what is expected stands in `rdx:rax`, what is put there in `rcx:rbx`.
    pub(super) fn wide_exchange(
        &mut self,
        reading: &mut Reading<'_>,
        sixteen: bool,
        place: &str,
        text: &str,
    ) -> Checked<()> {
        let pos = reading.pos;
        let half = if sixteen { WORD } else { Ty::Int(IntKind::UInt) };
        let whole = if sixteen { Ty::Int128 { signed: false } } else { WORD };
        let Some(object) = self.memory_operand(reading, place, None)? else {
            return Err(self.refuse(pos, text));
        };
        let object = self.seen_as(object, &whole, pos)?;
        let [expected, desired] = [("expected", ["a", "d"]), ("desired", ["b", "c"])].map(|(name, letters)| {
            let ty = Ty::Array(Rc::new(half.clone().plain()), Some(2)).plain();
            (self.new_var(Var { name: name.into(), ty, storage: Storage::Auto, align: 16, pos }), letters)
        });
        for (pair, letters) in [expected, desired] {
            reading.out.push(Stmt { kind: StmtKind::Decl(pair, None), pos });
            for (index, letter) in letters.into_iter().enumerate() {
                let value = self.lettered(reading, letter, text)?;
                let value = self.convert(value, &half)?;
                let target = self.half_of(pair, index, &half, pos)?;
                let ty = target.ty.clone();
                self.push(reading, Expr { kind: ExprKind::Assign(Box::new(target), Box::new(value)), ty, pos });
            }
        }
        let [old, new] =
            [expected.0, desired.0].map(|id| Expr { kind: ExprKind::Var(id), ty: self.var(id).ty.clone(), pos });
        let (old, new) = (self.seen_as(old, &whole, pos)?, self.seen_as(new, &whole, pos)?);
        let new = self.rvalue(new)?;
        let order = || Order::Known(Ordering::SeqCst);
        let builtin = Builtin::CompareExchange { success: order(), failure: order(), weak: false };
        let won = self.asm_builtin(builtin, vec![object, old, new], Ty::Int(IntKind::Bool), pos);
        let won = self.keep(reading, "won", won);
        for (index, (letter, name)) in [("a", "rax"), ("d", "rdx")].into_iter().enumerate() {
            let found = self.half_of(expected.0, index, &half, pos)?;
            let found = self.rvalue(found)?;
            match reading.asm.outputs.iter().find(|output| holds_letter(output, letter)) {
                Some(output) => self.assign_output(reading, output, found)?,
                None => self.write(reading, &format!("%{name}"), found, text)?,
            }
        }
        let won = self.kept(won, pos);
        (reading.flag, reading.carry) = (Some(self.convert(won, &Ty::INT)?), None);
        Ok(())
    }

    /// An object as one of another type.
    fn seen_as(&mut self, object: Expr, ty: &Ty, pos: Pos) -> Checked<Expr> {
        let address = self.address_of(object, pos)?;
        let address = self.convert(address, &Ty::Void.plain().pointer())?;
        let address = self.convert(address, &ty.clone().plain().pointer())?;
        self.deref(address, pos)
    }

    /// The lower or the upper half of two numbers.
    fn half_of(&mut self, pair: VarId, index: usize, half: &Ty, pos: Pos) -> Checked<Expr> {
        let object = Expr { kind: ExprKind::Var(pair), ty: self.var(pair).ty.clone(), pos };
        let first = self.seen_as(object, half, pos)?;
        let address = self.address_of(first, pos)?;
        let index = self.int(index as i64, pos);
        let address = self.binary(BinaryOp::Add, address, index, pos)?;
        self.deref(address, pos)
    }

    /// The value of the operand that stands in this register.
    fn lettered(&mut self, reading: &Reading<'_>, letter: &str, text: &str) -> Checked<Expr> {
        let asm = reading.asm;
        let output = asm.outputs.iter().position(|output| holds_letter(output, letter));
        let tied = output.and_then(|index| asm.inputs.iter().find(|input| tie(asm, input) == Some(index)));
        let both = output.map(|index| &asm.outputs[index]).filter(|output| output.constraint.starts_with('+'));
        let own = asm.inputs.iter().find(|input| holds_letter(input, letter));
        if let Some(operand) = own.or(tied).or(both) {
            return self.rvalue_of(&operand.expr);
        }
        let name = format!("r{letter}x");
        let held = reading.registers.iter().find(|(known, _)| *known == name).map(|(_, id)| *id);
        held.map(|id| self.kept(id, reading.pos)).ok_or_else(|| self.refuse(reading.pos, text))
    }
}

/// Whether an operand is in the register of this letter.
fn holds_letter(operand: &AsmOperand, letter: &str) -> bool {
    operand.constraint.trim_start_matches(['=', '+', '&', '%']) == letter
}
