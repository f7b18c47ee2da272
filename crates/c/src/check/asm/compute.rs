//! Instructions of x86 that compute in registers: bits, bytes, sums, shifts, moves under a condition; and what processors say of themselves.
//!
//! A template with one of them, or with labels, has its inputs in registers before the first instruction: each is evaluated once, and an output that an input
//! is tied to begins with its value. Numbers are computed with 64 bits and cut to the width that the instruction names, or else to that of its target.
//!
//! `cpuid` and `xgetbv` answer 0: a processor without anything special, so that libraries take the way that is there on all of them.

use super::{Reading, operand, parse_number, tie, unsigned};
use crate::check::asm::plain::WORD;
use crate::check::{Checked, Checker};
use crate::ctype::{IntKind, Ty};
use crate::syntax::{Asm, AsmOperand, BinaryOp};
use crate::tree::{Builtin, Change, Expr, ExprKind, RmwKind, Stmt, StmtKind};

/// What an instruction computes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Compute {
    /// Of its target and a source.
    Binary(BinaryOp),
    /// Of its target, whose bits go round; to the left?
    Rotate(bool),
    /// Of its target alone.
    Not,
    Neg,
    Step(BinaryOp),
    Swap,
    /// Of a source: the lowest bit that is set, the highest, how many there are.
    Scan {
        highest: bool,
    },
    Count {
        leading: bool,
    },
    Population,
    /// A source, if this condition holds.
    Move(&'static str),
}

/// The instructions by name, without the letter for their width.
const TABLE: [(&str, Compute); 22] = [
    ("add", Compute::Binary(BinaryOp::Add)),
    ("sub", Compute::Binary(BinaryOp::Sub)),
    ("and", Compute::Binary(BinaryOp::And)),
    ("or", Compute::Binary(BinaryOp::Or)),
    ("xor", Compute::Binary(BinaryOp::Xor)),
    ("shl", Compute::Binary(BinaryOp::Shl)),
    ("sal", Compute::Binary(BinaryOp::Shl)),
    ("shr", Compute::Binary(BinaryOp::Shr)),
    ("rol", Compute::Rotate(true)),
    ("ror", Compute::Rotate(false)),
    ("not", Compute::Not),
    ("neg", Compute::Neg),
    ("inc", Compute::Step(BinaryOp::Add)),
    ("dec", Compute::Step(BinaryOp::Sub)),
    ("bswap", Compute::Swap),
    ("bsf", Compute::Scan { highest: false }),
    ("bsr", Compute::Scan { highest: true }),
    ("tzcnt", Compute::Count { leading: false }),
    ("lzcnt", Compute::Count { leading: true }),
    ("popcnt", Compute::Population),
    ("cmovz", Compute::Move("z")),
    ("cmovnz", Compute::Move("nz")),
];

/// What this instruction computes, and with how many bits if it says so.
fn compute(name: &str) -> Option<(Compute, Option<u64>)> {
    let name = name.strip_prefix("cmove").map_or(name.to_owned(), |rest| format!("cmovz{rest}"));
    let name = name.strip_prefix("cmovne").map_or(name.clone(), |rest| format!("cmovnz{rest}"));
    let known = |name: &str| TABLE.iter().find(|(known, _)| *known == name).map(|(_, compute)| *compute);
    if let Some(found) = known(&name) {
        return Some((found, None));
    }
    let bits = match name.as_bytes().last()? {
        b'b' => 8,
        b'w' => 16,
        b'l' => 32,
        b'q' => 64,
        _ => return None,
    };
    Some((known(&name[..name.len() - 1])?, Some(bits)))
}

/// Whether the instruction asks the processor what it is.
fn asks(name: &str) -> bool {
    matches!(name, "cpuid" | "xgetbv" | "rdtsc" | "rdtscp")
}

/// Four rotations that together do nothing, and an exchange of a register with itself: a request to Valgrind, which is not there.
pub(super) fn is_request(list: &[String]) -> bool {
    let rotates = |text: &String| text.starts_with("rolq $") || text.starts_with("roll $");
    list.len() == 5 && list[..4].iter().all(rotates) && list[4].starts_with("xchg")
}

fn operand_of<'a>(asm: &'a Asm, text: &str) -> Option<&'a AsmOperand> {
    asm.outputs.iter().chain(&asm.inputs).nth(operand(asm, text)?)
}

/// How many bits of a register `%b0` and its like name.
fn part(text: &str) -> Option<u64> {
    let letter = text.strip_prefix('%')?.split(|c: char| c == '[' || c.is_ascii_digit()).next()?;
    [("b", 8), ("w", 16), ("k", 32), ("q", 64)].into_iter().find(|(name, _)| *name == letter).map(|(_, bits)| bits)
}

/// Whether an operand may be anywhere else than in memory.
fn in_register(constraint: &str) -> bool {
    constraint.contains(|c| !"=+&%moQV".contains(c))
}

impl Checker {
    /// Puts the inputs where the instructions find them, if the template is one that computes.
    pub(super) fn fill_registers(&mut self, reading: &mut Reading<'_>) -> Checked<()> {
        let computes = |text: &String| {
            let name = text.trim_start_matches("rep ").split(' ').next().unwrap_or_default();
            text.ends_with(':') || compute(name).is_some()
        };
        if !reading.list.iter().any(computes) {
            return Ok(());
        }
        let asm = reading.asm;
        reading.filled = true;
        for input in &asm.inputs {
            let mut value = None;
            if in_register(&input.constraint) {
                let given = self.rvalue_of(&input.expr)?;
                let constant = self.known_int(&given).is_some();
                value = Some(if constant { given } else { self.held(reading, given) });
            }
            reading.inputs.push(value.clone());
            let output = tie(asm, input).and_then(|index| asm.outputs.get(index));
            if let (Some(value), Some(output)) = (value, output) {
                self.assign_output(reading, output, value)?;
            }
        }
        Ok(())
    }

    /// The value of an operand that [stands in a register](Self::fill_registers).
    pub(super) fn register_value(&mut self, reading: &Reading<'_>, index: usize) -> Checked<Option<Expr>> {
        if !reading.filled {
            return Ok(None);
        }
        match reading.asm.outputs.get(index) {
            Some(output) if in_register(&output.constraint) => self.rvalue_of(&output.expr).map(Some),
            Some(_) => Ok(None),
            None => Ok(reading.inputs.get(index - reading.asm.outputs.len()).cloned().flatten()),
        }
    }

    /// An instruction that computes; whether it is one.
    pub(super) fn compute(
        &mut self,
        reading: &mut Reading<'_>,
        name: &str,
        operands: &[String],
        text: &str,
    ) -> Checked<bool> {
        if asks(name) && operands.is_empty() {
            for output in &reading.asm.outputs {
                let zero = self.int(0, reading.pos);
                self.assign_output(reading, output, zero)?;
            }
            return Ok(true);
        }
        let Some((what, bits)) = compute(name) else { return Ok(false) };
        let [.., target] = operands else { return Err(self.refuse(reading.pos, text)) };
        let bits = match bits.or_else(|| self.width_of(reading, target)) {
            Some(bits) => bits,
            None => return Err(self.refuse(reading.pos, text)),
        };
        match (what, operands) {
            (Compute::Binary(BinaryOp::Xor), [a, b]) if a == b => {
                let zero = self.int(0, reading.pos);
                self.result(reading, target, zero, bits, text)?;
            }
            (Compute::Binary(op), [source, _]) => {
                let (a, b) = (self.number(reading, target, bits, text)?, self.number(reading, source, bits, text)?);
                let b = match op {
                    BinaryOp::Shl | BinaryOp::Shr => {
                        self.with_constant(BinaryOp::And, b, if bits == 64 { 63 } else { 31 })?
                    }
                    _ => b,
                };
                let value = self.binary(op, a, b, reading.pos)?;
                self.result(reading, target, value, bits, text)?;
            }
            (Compute::Rotate(left), [count, _]) => {
                let count = count.strip_prefix('$').and_then(parse_number).filter(|n| (1..bits as i64).contains(n));
                let Some(count) = count else { return Err(self.refuse(reading.pos, text)) };
                let count = if left { count } else { bits as i64 - count };
                let value = self.number(reading, target, bits, text)?;
                let up = self.with_constant(BinaryOp::Shl, value.clone(), count)?;
                let down = self.with_constant(BinaryOp::Shr, value, bits as i64 - count)?;
                let value = self.binary(BinaryOp::Or, up, down, reading.pos)?;
                self.result(reading, target, value, bits, text)?;
            }
            (Compute::Not, [_]) => {
                let value = self.number(reading, target, bits, text)?;
                let value = self.with_constant(BinaryOp::Xor, value, -1)?;
                let flag = reading.flag.clone();
                self.result(reading, target, value, bits, text)?;
                reading.flag = flag;
            }
            (Compute::Neg, [_]) => {
                let (zero, value) = (self.int(0, reading.pos), self.number(reading, target, bits, text)?);
                let value = self.binary(BinaryOp::Sub, zero, value, reading.pos)?;
                self.result(reading, target, value, bits, text)?;
            }
            (Compute::Step(op), [_]) => {
                let value = self.number(reading, target, bits, text)?;
                let value = self.with_constant(op, value, 1)?;
                self.result(reading, target, value, bits, text)?;
            }
            (Compute::Swap, [_]) => {
                let value = self.number(reading, target, bits, text)?;
                let value = self.bits_of(Builtin::Bswap, value, bits)?;
                self.write_number(reading, target, value, bits, text)?;
            }
            (Compute::Scan { .. } | Compute::Count { .. } | Compute::Population, [source, _]) => {
                self.scan(reading, what, source, target, bits, text)?;
            }
            (Compute::Move(condition), [source, _]) => {
                let condition = self.flag_value(reading, condition)?;
                let value = self.number(reading, source, bits, text)?;
                self.only_if(reading, condition, |c, reading| c.write_number(reading, target, value, bits, text))?;
            }
            _ => return Err(self.refuse(reading.pos, text)),
        }
        Ok(true)
    }

    /// `bsf` and its like. What `bsf` and `bsr` leave of their target where no bit is set is what was there before.
    fn scan(
        &mut self,
        reading: &mut Reading<'_>,
        what: Compute,
        source: &str,
        target: &str,
        bits: u64,
        text: &str,
    ) -> Checked<()> {
        let source = self.number(reading, source, bits, text)?;
        let source = self.held(reading, source);
        let nothing = self.with_constant(BinaryOp::Eq, source.clone(), 0)?;
        let nothing = self.held(reading, nothing);
        let value = match what {
            Compute::Population => self.bits_of(Builtin::Popcount, source.clone(), bits)?,
            Compute::Scan { highest: false } | Compute::Count { leading: false } => {
                self.bits_of(Builtin::Ctz, source.clone(), bits)?
            }
            _ => self.bits_of(Builtin::Clz, source.clone(), bits)?,
        };
        let value = if what == (Compute::Scan { highest: true }) {
            self.with_constant(BinaryOp::Xor, value, bits as i64 - 1)?
        } else {
            value
        };
        if what == Compute::Population {
            self.write_number(reading, target, value, bits, text)?;
        } else {
            let some = self.with_constant(BinaryOp::Ne, source, 0)?;
            self.only_if(reading, some, |c, reading| c.write_number(reading, target, value, bits, text))?;
            if let Compute::Count { .. } = what {
                let all = self.int(bits as i64, reading.pos);
                let nothing = nothing.clone();
                self.only_if(reading, nothing, |c, reading| c.write_number(reading, target, all, bits, text))?;
            }
        }
        (reading.flag, reading.carry) = (Some(nothing), None);
        Ok(())
    }

    /// Writes what an instruction computed, and keeps whether it was zero.
    fn result(&mut self, reading: &mut Reading<'_>, target: &str, value: Expr, bits: u64, text: &str) -> Checked<()> {
        let value = self.cut(value, bits)?;
        let value = self.held(reading, value);
        let zero = self.with_constant(BinaryOp::Eq, value.clone(), 0)?;
        let zero = self.held(reading, zero);
        self.write_number(reading, target, value, bits, text)?;
        (reading.flag, reading.carry) = (Some(zero), None);
        Ok(())
    }

    fn write_number(
        &mut self,
        reading: &mut Reading<'_>,
        target: &str,
        value: Expr,
        bits: u64,
        text: &str,
    ) -> Checked<()> {
        let value = self.cut(value, bits)?;
        self.write(reading, target, value, text)
    }

    /// The value of an operand as a number without sign of so many bits.
    fn number(&mut self, reading: &mut Reading<'_>, text: &str, bits: u64, instruction: &str) -> Checked<Expr> {
        let index = operand(reading.asm, text);
        let found = match index {
            Some(index) => self.register_value(reading, index)?,
            None => None,
        };
        let value = match found {
            Some(value) => value,
            None => self.read(reading, text, instruction)?,
        };
        self.cut(value, bits)
    }

    fn cut(&mut self, value: Expr, bits: u64) -> Checked<Expr> {
        let value = self.convert(value, &unsigned(bits))?;
        self.convert(value, &WORD)
    }

    /// A builtin on a number of so many bits.
    fn bits_of(&mut self, builtin: Builtin, value: Expr, bits: u64) -> Checked<Expr> {
        let pos = value.pos;
        let wide = Ty::Int(if bits == 64 { IntKind::ULLong } else { IntKind::UInt });
        let result = if builtin == Builtin::Bswap { wide.clone() } else { Ty::INT };
        let value = self.convert(value, &wide)?;
        let found = Expr { kind: ExprKind::Builtin(builtin, vec![value]), ty: result.plain(), pos };
        self.convert(found, &WORD)
    }

    fn with_constant(&mut self, op: BinaryOp, value: Expr, constant: i64) -> Checked<Expr> {
        let pos = value.pos;
        let constant = self.int(constant, pos);
        let constant = self.convert(constant, &value.ty.ty)?;
        self.binary(op, value, constant, pos)
    }

    /// What is done under a condition.
    fn only_if<'a>(
        &mut self,
        reading: &mut Reading<'a>,
        condition: Expr,
        then: impl FnOnce(&mut Self, &mut Reading<'a>) -> Checked<()>,
    ) -> Checked<()> {
        let pos = reading.pos;
        let before = std::mem::take(&mut reading.out);
        then(self, reading)?;
        let then = std::mem::replace(&mut reading.out, before);
        let then = Stmt { kind: StmtKind::Block(then), pos };
        reading.out.push(Stmt { kind: StmtKind::If(condition, Box::new(then), None), pos });
        Ok(())
    }

    /// Keeps a value, to be read any number of times.
    fn held(&mut self, reading: &mut Reading<'_>, value: Expr) -> Expr {
        let id = self.keep(reading, "value", value);
        self.kept(id, reading.pos)
    }

    /// How many bits an operand has by its type.
    fn width_of(&mut self, reading: &Reading<'_>, text: &str) -> Option<u64> {
        let operand = operand_of(reading.asm, text)?;
        if let Some(bits) = part(text) {
            return Some(bits);
        }
        let ty = self.expr(&operand.expr).ok()?.ty.ty;
        self.types.size(&ty).filter(|size| size.is_power_of_two() && *size <= 8).map(|size| 8 * size)
    }

    /// How many bits of its register an operand names, if it may stand in one.
    pub(super) fn register_bits(&mut self, reading: &Reading<'_>, text: &str) -> Option<u64> {
        operand_of(reading.asm, text).filter(|operand| in_register(&operand.constraint))?;
        self.width_of(reading, text)
    }

    /// `lock; not` and `lock; neg`: the one turns every bit, the other is a compare-exchange that is tried until it succeeds.
    pub(super) fn turn(&mut self, reading: &mut Reading<'_>, negate: bool, place: &str, text: &str) -> Checked<()> {
        let pos = reading.pos;
        if !negate {
            let all = self.int(-1, pos);
            let flag = reading.flag.clone();
            self.update(reading, RmwKind::Xor, all, place, text)?;
            reading.flag = flag;
            return Ok(());
        }
        let Some(mut object) = self.memory_operand(reading, place, Some(&WORD))? else {
            return Err(self.refuse(pos, text));
        };
        let plain = object.ty.value().ty;
        if plain.int().is_none() {
            return Err(self.refuse(pos, text));
        }
        object.ty.quals.atomic = true;
        let minus = self.int(-1, pos);
        let minus = self.convert(minus, &plain)?;
        let ty = plain.plain();
        let kind = ExprKind::OpAssign {
            op: Change::Op(BinaryOp::Mul),
            target: Box::new(object),
            value: Box::new(minus),
            via: ty.clone(),
        };
        let negated = Expr { kind, ty, pos };
        let negated = self.held(reading, negated);
        let zero = self.with_constant(BinaryOp::Eq, negated, 0)?;
        (reading.flag, reading.carry) = (Some(zero), None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_computed_and_with_how_many_bits() {
        assert_eq!(compute("bsfq"), Some((Compute::Scan { highest: false }, Some(64))));
        assert_eq!(compute("bsf"), Some((Compute::Scan { highest: false }, None)));
        assert_eq!(compute("cmovne"), Some((Compute::Move("nz"), None)));
        assert_eq!(compute("cmovel"), Some((Compute::Move("z"), Some(32))));
        assert_eq!(compute("cmovzl"), Some((Compute::Move("z"), Some(32))));
        assert_eq!(compute("sub"), Some((Compute::Binary(BinaryOp::Sub), None)));
        assert_eq!(compute("subb"), Some((Compute::Binary(BinaryOp::Sub), Some(8))));
        assert_eq!(compute("mulq"), None);
    }

    #[test]
    fn a_request_to_valgrind_is_known_by_its_rotations() {
        let request = ["rolq $3, %rdi", "rolq $13, %rdi", "rolq $61, %rdi", "rolq $51, %rdi", "xchgq %rbx,%rbx"];
        assert!(is_request(&request.map(str::to_owned)));
        assert!(!is_request(&["rolq $3, %rdi".to_owned(), "xchgq %rbx,%rbx".to_owned()]));
    }
}
