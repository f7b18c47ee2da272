//! What does inline assembly do?
//!
//! A table of the instructions that lock libraries and queues are written with, on x86 and ARM: hints, fences, locked read-modify-writes,
//! and no instruction at all with operands. The template is cut into instructions, each of which becomes the builtin that compilers
//! have for it; anything that is not in the table is refused with its line.
//!
//! | instructions | meaning |
//! |---|---|
//! | none | a tied operand is assigned; everything else keeps its value |
//! | `pause`, `rep; nop`, `nop`, `yield`, `isb`, `prefetch...` | nothing |
//! | `mfence`, `lock; addl $0, (%rsp)`, `dmb ish`, `dmb sy` | a fence, sequentially consistent |
//! | `lfence`, `dmb ishld`; `sfence`, `dmb ishst` | a fence, acquire; release |
//! | `lock; cmpxchg`, `xchg`, `lock; xadd` | compare-exchange, exchange, fetch-and-add, sequentially consistent |
//! | `lock; inc`, `dec`, `add`, `sub`, `and`, `or`, `xor` | the update |
//! | `lock; bts`, `btr`, `btc` | the update of one bit; the carry is what it was |
//! | `lock; cmpxchg16b`, `cmpxchg8b` | compare-exchange of both halves |
//! | `mov` | a load is an acquire load, a store a release store, as on the machine |
//! | `cmp`, `test` and jumps to labels of the template | the loops of spin locks |
//! | `set...`, `sbb` behind one of these | what it found out |
//! | `lock; not`, `neg` | the update |
//! | `add`, `shl`, `ror`, `not`, `bswap`, `bsf`, `bsr`, `popcnt`, `cmov...` and their like | what they compute |
//! | `rdtsc`; `cpuid`, `xgetbv` | 0: time stands still; a processor without anything special |
//! | `ud2` | control does not come here |
//! | the rotations by which programs talk to Valgrind | nothing |
//!
//! What is not a locked read-modify-write stands in `asm/plain.rs`, what computes in registers in `asm/compute.rs`.

mod compute;
mod plain;

use super::{Checked, Checker};
use crate::ctype::{IntKind, Ty};
use crate::parse::Fault;
use crate::syntax::{self, Asm, AsmOperand, BinaryOp};
use crate::token::{Name, Pos};
use crate::tree::{Builtin, Expr, ExprKind, Init, Order, RmwKind, Stmt, StmtKind, Storage, Var, VarId};
use raddle_program::Ordering;

/// What an instruction without operands means.
enum Simple {
    Nothing,
    Fence(Ordering),
}

fn simple(instruction: &str) -> Option<Simple> {
    Some(match instruction {
        "pause" | "rep nop" | "rep" | "nop" | "yield" | "isb" | "isb sy" | "hint #0x1" | "wfe" | "sev" | "cld" => {
            Simple::Nothing
        }
        ".byte 0xf3, 0x90" | ".byte 0xf3,0x90" => Simple::Nothing,
        other if other.starts_with("prefetch") || other.starts_with("prfm") => Simple::Nothing,
        "mfence" | "dmb ish" | "dmb sy" | "dmb" | "dsb sy" | "dsb ish" | "sync" | "hwsync" | "fence rw,rw" => {
            Simple::Fence(Ordering::SeqCst)
        }
        "lfence" | "dmb ishld" => Simple::Fence(Ordering::Acquire),
        "sfence" | "dmb ishst" => Simple::Fence(Ordering::Release),
        "lwsync" => Simple::Fence(Ordering::AcqRel),
        other => {
            // Adding nothing to the top of the stack.
            let rest = other.strip_prefix("lock ")?;
            let (name, operands) = rest.split_once(' ')?;
            let operands = operands.replace(' ', "");
            let (value, place) = operands.split_once(',')?;
            let stack = place.ends_with("(%esp)") || place.ends_with("(%rsp)");
            let nothing = matches!(value, "$0" | "$0x0") && ["add", "or"].iter().any(|op| name.starts_with(op));
            (stack && nothing).then_some(Simple::Fence(Ordering::SeqCst))?
        }
    })
}

/// The template as instructions in small letters, prefixes joined to what they belong to.
fn instructions(template: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut clean = template.to_ascii_lowercase().replace("%%", "%");
    while let Some((before, rest)) = clean.split_once("/*") {
        let behind = rest.split_once("*/").map_or("", |(_, behind)| behind);
        clean = format!("{before} {behind}");
    }
    for part in clean.split('\n').flat_map(|line| without_comment(line).split(';')) {
        let text = part.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text = text.as_str();
        // Labels may stand before an instruction.
        while let Some((label, rest)) = text.split_once(':').filter(|(label, _)| plain::is_label(label)) {
            list.push(format!("{}:", label.trim()));
            text = rest.trim();
        }
        match list.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last == "lock" || last == "rep" => *last = format!("{last} {text}"),
            _ => list.push(text.to_owned()),
        }
    }
    list
}

/// A line up to its comment. Numbers of ARM begin with the same sign.
fn without_comment(line: &str) -> &str {
    let begins = |at: &usize| {
        let before = line[..*at].chars().next_back();
        let behind = line[*at + 1..].chars().next();
        before.is_none_or(|c| c.is_whitespace() || c == ';') && !behind.is_some_and(|c| c.is_ascii_digit() || c == '-')
    };
    let comment = line.match_indices('#').map(|(at, _)| at).find(begins);
    &line[..comment.unwrap_or(line.len())]
}

/// A template that is being understood.
struct Reading<'a> {
    asm: &'a Asm,
    pos: Pos,
    out: Vec<Stmt>,
    /// The last comparison that `set...` may ask for: whether something was zero.
    flag: Option<Expr>,
    /// The bit that went out last.
    carry: Option<Expr>,
    /// What registers hold that are named in the template.
    registers: Vec<(String, VarId)>,
    /// The instructions, and the labels among them.
    list: Vec<String>,
    labels: Vec<(usize, Name)>,
    /// Whether the inputs were put into registers before the first instruction, and what stands there.
    filled: bool,
    inputs: Vec<Option<Expr>>,
    /// How many bits the instruction works on, if its name says so.
    bits: Option<u64>,
    /// The type of what is moved.
    moved: Option<Ty>,
}

/// The instructions that work on memory and may have the letter of a width at their end.
const SIZED: [&str; 18] = [
    "mov", "cmp", "test", "xchg", "xadd", "cmpxchg", "add", "sub", "and", "or", "xor", "inc", "dec", "not", "neg",
    "bts", "btr", "btc",
];

/// How many bits an instruction of this name works on, if it says so.
fn width(name: &str) -> Option<u64> {
    let sized = |suffix| SIZED.iter().any(|stem| name.strip_prefix(stem) == Some(suffix));
    [("b", 8), ("w", 16), ("l", 32), ("q", 64)].into_iter().find(|(suffix, _)| sized(*suffix)).map(|(_, bits)| bits)
}

impl Checker {
    pub(super) fn asm(&mut self, asm: &Asm, pos: Pos, out: &mut Vec<Stmt>) -> Checked<()> {
        let mut list = instructions(&asm.template);
        if compute::is_request(&list) {
            list.clear();
        }
        let mut reading = Reading {
            asm,
            pos,
            out: Vec::new(),
            flag: None,
            carry: None,
            registers: Vec::new(),
            list,
            labels: Vec::new(),
            filled: false,
            inputs: Vec::new(),
            bits: None,
            moved: None,
        };
        if reading.list.is_empty() {
            self.tied(&mut reading)?;
        }
        if plain::is_wide_load(&reading.list) {
            for name in ["rax", "rdx"] {
                let zero = self.int(0, pos);
                let zero = self.keep(&mut reading, name, zero);
                reading.registers.push((name.to_owned(), zero));
            }
        }
        self.fill_registers(&mut reading)?;
        self.name_labels(&mut reading)?;
        for at in 0..reading.list.len() {
            let instruction = reading.list[at].clone();
            if !self.control(&mut reading, at, &instruction)? {
                self.instruction(&mut reading, &instruction)?;
            }
        }
        // `=@ccz` asks for a flag without an instruction.
        for output in &asm.outputs {
            if let Some(condition) = output.constraint.strip_prefix("=@cc") {
                let value = self.flag_value(&reading, condition)?;
                self.assign_output(&mut reading, output, value)?;
            }
        }
        out.append(&mut reading.out);
        Ok(())
    }

    fn refuse(&self, pos: Pos, instruction: &str) -> Fault {
        Fault::new(pos, format!("inline assembly is not supported: `{instruction}`"))
            .help("hints, fences and locked read-modify-writes of x86 and ARM are understood; a builtin such as __atomic_exchange_n is, too")
    }

    /// No instruction: outputs that are tied to inputs have their values.
    fn tied(&mut self, reading: &mut Reading<'_>) -> Checked<()> {
        for (index, output) in reading.asm.outputs.iter().enumerate() {
            let tie = reading.asm.inputs.iter().find(|input| tie(reading.asm, input) == Some(index));
            match tie {
                Some(input) => {
                    let value = self.rvalue_of(&input.expr)?;
                    self.assign_output(reading, output, value)?;
                }
                None if output.constraint.starts_with('+') || output.constraint.contains('m') => {}
                None => return Err(self.refuse(reading.pos, "an output that nothing is written to")),
            }
        }
        let tied = |input: &&AsmOperand| tie(reading.asm, input).is_some();
        for input in reading.asm.inputs.iter().filter(|input| !tied(input) && !input.constraint.contains('m')) {
            let value = self.rvalue_of(&input.expr)?;
            self.push(reading, value);
        }
        Ok(())
    }

    fn instruction(&mut self, reading: &mut Reading<'_>, text: &str) -> Checked<()> {
        let pos = reading.pos;
        match simple(text) {
            Some(Simple::Nothing) => return Ok(()),
            Some(Simple::Fence(order)) => {
                self.x86.set(self.x86.get() || text.ends_with("fence") || text.starts_with("lock"));
                let fence = self.asm_builtin(Builtin::Fence(Order::Known(order)), Vec::new(), Ty::Void, pos);
                self.push(reading, fence);
                return Ok(());
            }
            None => {}
        }
        self.x86.set(true);
        // Older processors overlook the prefix, and what it makes of a scan differs for zero only.
        let text = text.strip_prefix("rep ").unwrap_or(text);
        let (locked, rest) = match text.strip_prefix("lock ") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let operands: Vec<String> = split_operands(operands);
        // Where the name does not say it, a register does.
        let mut bits = width(name);
        if bits.is_none() && SIZED.contains(&name) {
            bits = operands.iter().find_map(|operand| self.register_bits(reading, operand));
        }
        (reading.bits, reading.moved) = (bits, None);
        if name == "ud2" {
            let trap = self.asm_builtin(Builtin::Trap("`ud2`"), Vec::new(), Ty::Void, pos);
            self.push(reading, trap);
            return Ok(());
        }
        if let Some(condition) = name.strip_prefix("set") {
            let [target] = operands.as_slice() else { return Err(self.refuse(pos, text)) };
            let value = self.flag_value(reading, condition)?;
            let Some(output) = operand(reading.asm, target).and_then(|index| reading.asm.outputs.get(index)) else {
                return Err(self.refuse(pos, text));
            };
            return self.assign_output(reading, output, value);
        }
        let stem = |op: &str| {
            name == op || (name.len() == op.len() + 1 && name.starts_with(op) && name.ends_with(['b', 'w', 'l', 'q']))
        };
        let update = [
            ("add", RmwKind::Add),
            ("sub", RmwKind::Sub),
            ("and", RmwKind::And),
            ("or", RmwKind::Or),
            ("xor", RmwKind::Xor),
        ];
        match operands.as_slice() {
            [place] if locked && matches!(name, "cmpxchg16b" | "cmpxchg8b") => {
                self.wide_exchange(reading, name == "cmpxchg16b", place, text)
            }
            [bit, place] if locked && ["bts", "btr", "btc"].iter().any(|op| stem(op)) => {
                self.bit_update(reading, &name[..3], bit, place, text)
            }
            [value, place] if locked && stem("cmpxchg") => self.compare_exchange(reading, value, place, text),
            [a, b] if stem("xchg") || (locked && stem("xadd")) => {
                // Exchanging is the same both ways round.
                let (value, place) = if self.memory_operand(reading, b, None)?.is_some() { (a, b) } else { (b, a) };
                let op = if stem("xchg") { RmwKind::Exchange } else { RmwKind::Add };
                self.exchange(reading, op, value, place, text)
            }
            [place] if locked && (stem("inc") || stem("dec")) => {
                let one = self.int(1, pos);
                let op = if stem("inc") { RmwKind::Add } else { RmwKind::Sub };
                self.update(reading, op, one, place, text)
            }
            [place] if locked && (stem("not") || stem("neg")) => self.turn(reading, stem("neg"), place, text),
            [value, place] if locked && update.iter().any(|(op, _)| stem(op)) => {
                let op = update.iter().find(|(op, _)| stem(op)).expect("just found").1;
                let value = match value.strip_prefix('$').map(parse_number) {
                    Some(Some(number)) => self.int(number, pos),
                    Some(None) => return Err(self.refuse(pos, text)),
                    None => self.input_value(reading, value, text)?,
                };
                self.update(reading, op, value, place, text)
            }
            _ if locked => Err(self.refuse(pos, text)),
            _ if self.compute(reading, name, &operands, text)? => Ok(()),
            _ => self.plain(reading, name, &operands, text),
        }
    }

    fn compare_exchange(&mut self, reading: &mut Reading<'_>, value: &str, place: &str, text: &str) -> Checked<()> {
        let pos = reading.pos;
        let asm = reading.asm;
        let new = self.input_value(reading, value, text)?;
        // What is compared with stands in the accumulator: an input of its own, one tied to an output, or an output that is also read.
        let accumulates =
            |operand: &AsmOperand| operand.constraint.trim_start_matches(['=', '+', '&', '%']).starts_with('a');
        let output = asm.outputs.iter().position(&accumulates);
        let tied = output.and_then(|index| asm.inputs.iter().find(|input| tie(asm, input) == Some(index)));
        let both = output.map(|index| &asm.outputs[index]).filter(|output| output.constraint.starts_with('+'));
        let Some(expected) = asm.inputs.iter().find(|input| accumulates(input)).or(tied).or(both) else {
            return Err(self.refuse(pos, text));
        };
        // In a loop it is what was found the last time.
        let held = output.filter(|_| reading.filled).map(|index| &asm.outputs[index]);
        let expected = self.rvalue_of(&held.unwrap_or(expected).expr)?;
        let Some(object) = self.memory_operand(reading, place, Some(&new.ty.ty))? else {
            return Err(self.refuse(pos, text));
        };
        let ty = object.ty.value().ty;
        let (expected, new) = (self.convert(expected, &ty)?, self.convert(new, &ty)?);
        let expected = self.keep(reading, "expected", expected);
        let expected_value = self.kept(expected, pos);
        let old = self.asm_builtin(Builtin::SyncCas { old: true }, vec![object, expected_value, new], ty, pos);
        let found = self.keep(reading, "found", old);
        let (found_value, expected_value) = (self.kept(found, pos), self.kept(expected, pos));
        reading.flag = Some(self.compare(BinaryOp::Eq, found_value, expected_value));
        match output {
            Some(index) => {
                let value = self.kept(found, pos);
                self.assign_part(reading, index, value)
            }
            None => Ok(()),
        }
    }

    /// `xchg` and `xadd`: the register gets what was there.
    fn exchange(
        &mut self,
        reading: &mut Reading<'_>,
        op: RmwKind,
        value: &str,
        place: &str,
        text: &str,
    ) -> Checked<()> {
        let pos = reading.pos;
        let asm = reading.asm;
        let new = self.input_value(reading, value, text)?;
        let Some(object) = self.memory_operand(reading, place, Some(&new.ty.ty))? else {
            return Err(self.refuse(pos, text));
        };
        let ty = object.ty.value().ty;
        let operand_ty =
            if matches!(ty, Ty::Ptr(_)) && op != RmwKind::Exchange { Ty::Int(IntKind::LLong) } else { ty.clone() };
        let new = self.convert(new, &operand_ty)?;
        let builtin = Builtin::AtomicRmw { op, order: Order::Known(Ordering::SeqCst), new: false };
        let old = self.asm_builtin(builtin, vec![object, new], ty, pos);
        let index = operand(asm, value).and_then(|index| self.output_of(asm, index));
        match index {
            Some(index) => self.assign_part(reading, index, old),
            None => {
                self.push(reading, old);
                Ok(())
            }
        }
    }

    fn update(&mut self, reading: &mut Reading<'_>, op: RmwKind, value: Expr, place: &str, text: &str) -> Checked<()> {
        let pos = reading.pos;
        let Some(object) = self.memory_operand(reading, place, Some(&Ty::INT))? else {
            return Err(self.refuse(pos, text));
        };
        let ty = object.ty.value().ty;
        if matches!(ty, Ty::Ptr(_)) {
            return Err(self.refuse(pos, text));
        }
        let value = self.convert(value, &ty)?;
        let builtin = Builtin::AtomicRmw { op, order: Order::Known(Ordering::SeqCst), new: true };
        let new = self.asm_builtin(builtin, vec![object, value], ty.clone(), pos);
        let asks = reading.asm.outputs.iter().any(|output| output.constraint.starts_with("=@cc"))
            || reading.list.iter().any(|other| other.starts_with("set") || other.starts_with('j'));
        if !asks {
            self.push(reading, new);
            return Ok(());
        }
        let result = self.keep(reading, "result", new);
        let zero = Expr { kind: ExprKind::Const(0), ty: ty.plain(), pos };
        let value = self.kept(result, pos);
        reading.flag = Some(self.compare(BinaryOp::Eq, value, zero));
        Ok(())
    }

    /// What a condition says about the flags; only whether something was zero, or equal, is known.
    fn flag_value(&mut self, reading: &Reading<'_>, condition: &str) -> Checked<Expr> {
        let (flag, negated) = match condition {
            "e" | "z" => (reading.flag.clone(), false),
            "ne" | "nz" => (reading.flag.clone(), true),
            "c" | "b" | "nae" => (reading.carry.clone(), false),
            "nc" | "ae" | "nb" => (reading.carry.clone(), true),
            _ => (None, false),
        };
        let Some(flag) = flag else { return Err(self.refuse(reading.pos, &format!("set{condition}"))) };
        let zero = self.int(0, reading.pos);
        Ok(if negated { self.compare(BinaryOp::Eq, flag, zero) } else { flag })
    }

    /// The value of an operand that is read: an input, an output that is also read, or one that an input is tied to.
    fn input_value(&mut self, reading: &Reading<'_>, text: &str, instruction: &str) -> Checked<Expr> {
        let asm = reading.asm;
        let Some(index) = operand(asm, text) else { return Err(self.refuse(reading.pos, instruction)) };
        if let Some(held) = self.register_value(reading, index)? {
            return Ok(held);
        }
        let source = match asm.outputs.get(index) {
            Some(output) if output.constraint.starts_with('+') => Some(&output.expr),
            Some(_) => asm.inputs.iter().find(|input| tie(asm, input) == Some(index)).map(|input| &input.expr),
            None => asm.inputs.get(index - asm.outputs.len()).map(|input| &input.expr),
        };
        match source {
            Some(expr) => self.rvalue_of(expr),
            None => Err(self.refuse(reading.pos, instruction)),
        }
    }

    /// The object that a memory operand stands for; `None` if it is none. One that is no scalar, or has another width than the instruction (libraries write
    /// `*(char *)p` for whatever stands there), is taken for one of the type of the value.
    fn memory_operand(&mut self, reading: &Reading<'_>, text: &str, value: Option<&Ty>) -> Checked<Option<Expr>> {
        let asm = reading.asm;
        let behind = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let Some(index) = operand(asm, behind.unwrap_or(text)) else { return Ok(None) };
        let found = asm.outputs.get(index).or_else(|| asm.inputs.get(index.wrapping_sub(asm.outputs.len())));
        let Some(found) = found else { return Ok(None) };
        let object = match behind {
            Some(_) => {
                let pointer = self.rvalue_of(&found.expr)?;
                self.pointed(pointer)?
            }
            None if found.constraint.contains(['m', 'o', 'Q']) => self.expr(&found.expr)?,
            None => return Ok(None),
        };
        let bits = |c: &Self, ty: &Ty| c.types.size(ty).map(|bytes| 8 * bytes);
        let fits = reading.bits.is_none_or(|wanted| bits(self, &object.ty.ty) == Some(wanted));
        if self.types.scalar(&object.ty.ty).is_some() && fits {
            return Ok(Some(object));
        }
        let Some(value) = value else { return Ok(Some(object)) };
        let value = match reading.bits {
            Some(wanted) if bits(self, value) != Some(wanted) => unsigned(wanted),
            _ => value.clone(),
        };
        let pos = object.pos;
        let pointer = value.clone().plain().pointer();
        let address = Expr { kind: ExprKind::AddrOf(Box::new(object)), ty: pointer.plain(), pos };
        Ok(Some(Expr { kind: ExprKind::Deref(Box::new(address)), ty: value.plain(), pos }))
    }

    /// The output that the operand of this number is, or is tied to.
    fn output_of(&self, asm: &Asm, index: usize) -> Option<usize> {
        if index < asm.outputs.len() {
            return Some(index);
        }
        tie(asm, asm.inputs.get(index - asm.outputs.len())?)
    }

    fn asm_builtin(&self, builtin: Builtin, args: Vec<Expr>, ty: Ty, pos: Pos) -> Expr {
        Expr { kind: ExprKind::Builtin(builtin, args), ty: ty.plain(), pos }
    }

    fn compare(&self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let pos = a.pos;
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty: Ty::INT.plain(), pos }
    }

    fn push(&self, reading: &mut Reading<'_>, expr: Expr) {
        reading.out.push(Stmt { kind: StmtKind::Expr(expr), pos: reading.pos });
    }

    /// Keeps a value in a variable of its own.
    fn keep(&mut self, reading: &mut Reading<'_>, name: &str, value: Expr) -> VarId {
        let ty = value.ty.value();
        let id = self.new_var(Var { name: name.into(), ty, storage: Storage::Auto, align: 0, pos: reading.pos });
        reading.out.push(Stmt { kind: StmtKind::Decl(id, Some(Init::Value(value))), pos: reading.pos });
        id
    }

    fn kept(&self, id: VarId, pos: Pos) -> Expr {
        let ty = self.var(id).ty.clone();
        let object = Expr { kind: ExprKind::Var(id), ty: ty.clone(), pos };
        Expr { kind: ExprKind::Load(Box::new(object)), ty, pos }
    }

    fn assign_output(&mut self, reading: &mut Reading<'_>, output: &AsmOperand, value: Expr) -> Checked<()> {
        // Old compilers took a cast for an object.
        let mut object = &output.expr;
        while let syntax::ExprKind::Cast(_, inner) = &object.kind {
            object = inner;
        }
        let target = self.expr(object)?;
        let ty = target.ty.value();
        let value = self.convert(value, &ty.ty)?;
        let kind = ExprKind::Assign(Box::new(target), Box::new(value));
        self.push(reading, Expr { kind, ty, pos: reading.pos });
        Ok(())
    }
}

impl Checker {
    /// An output gets what an instruction leaves in its register: of 32 bits the rest is 0, of fewer it is what it was.
    fn assign_part(&mut self, reading: &mut Reading<'_>, index: usize, value: Expr) -> Checked<()> {
        let (asm, pos) = (reading.asm, reading.pos);
        let output = &asm.outputs[index];
        let own = self.expr(&output.expr)?.ty.value().ty;
        let Some(bits) = reading.bits.filter(|&bits| self.types.size(&own).is_some_and(|size| bits < 8 * size)) else {
            return self.assign_output(reading, output, value);
        };
        let value = self.convert(value, &unsigned(bits))?;
        let before = if output.constraint.starts_with('+') {
            Some(&output.expr)
        } else {
            asm.inputs.iter().find(|input| tie(asm, input) == Some(index)).map(|input| &input.expr)
        };
        let Some(before) = before.filter(|_| bits < 32) else { return self.assign_output(reading, output, value) };
        let word = unsigned(64);
        let before = self.rvalue_of(before)?;
        let (before, value) = (self.convert(before, &word)?, self.convert(value, &word)?);
        let others = self.int(-1 << bits, pos);
        let others = self.convert(others, &word)?;
        let kept = self.binary(BinaryOp::And, before, others, pos)?;
        let value = self.binary(BinaryOp::Or, kept, value, pos)?;
        self.assign_output(reading, output, value)
    }
}

/// The type of numbers without sign of so many bits.
fn unsigned(bits: u64) -> Ty {
    Ty::Int(match bits {
        8 => IntKind::UChar,
        16 => IntKind::UShort,
        32 => IntKind::UInt,
        _ => IntKind::ULLong,
    })
}

/// The output that an input is tied to, by its number or its name.
fn tie(asm: &Asm, input: &AsmOperand) -> Option<usize> {
    let constraint = input.constraint.trim();
    if let Some(name) = constraint.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return asm.outputs.iter().position(|output| output.name.as_deref() == Some(name));
    }
    constraint.parse().ok().filter(|&index| index < asm.outputs.len())
}

fn parse_number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|bits| bits as i64),
        None => text.parse().ok(),
    }
}

/// Operands between commas that stand outside of parentheses.
fn split_operands(text: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut depth = 0;
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            list.push(String::new());
        } else if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    list.retain(|operand| !operand.is_empty());
    list
}

/// The number of the operand that `%1`, `%b1` or `%[name]` stands for. Of the second byte of a register, `%h1`, nothing is known.
fn operand(asm: &Asm, text: &str) -> Option<usize> {
    let text = text.strip_prefix('%')?;
    let text = text.strip_prefix(['b', 'w', 'k', 'q']).unwrap_or(text);
    if let Some(name) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let all = asm.outputs.iter().chain(&asm.inputs);
        return all
            .into_iter()
            .position(|operand| operand.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(name)));
    }
    text.parse().ok().filter(|&index| index < asm.outputs.len() + asm.inputs.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_cut_into_instructions() {
        assert_eq!(instructions("rep; nop"), ["rep nop"]);
        assert_eq!(instructions("lock ; cmpxchgl %2, %1;\n\tsete %0 ;"), ["lock cmpxchgl %2, %1", "sete %0"]);
        assert_eq!(instructions("lock\n\txaddl %0,%1"), ["lock xaddl %0,%1"]);
        assert_eq!(instructions("1: pause\n2:3: lock; incl %0"), ["1:", "pause", "2:", "3:", "lock incl %0"]);
        assert_eq!(instructions("xchg %1,%0 ; # exchange; of two\n # nothing\n pause"), ["xchg %1,%0", "pause"]);
        assert_eq!(instructions("hint #0x1"), ["hint #0x1"]);
        assert_eq!(instructions("lock; decl %0\n\t/* output condition code e*/\n"), ["lock decl %0"]);
        assert!(instructions(" \n\t;").is_empty());
        assert_eq!(split_operands("%2, (%1)"), ["%2", "(%1)"]);
    }

    #[test]
    fn the_top_of_the_stack_is_a_fence() {
        for text in ["lock addl $0,0(%rsp)", "lock orl $0x0, (%esp)", "lock addq $0,-8(%rsp)"] {
            assert!(matches!(simple(text), Some(Simple::Fence(Ordering::SeqCst))), "{text}");
        }
        for text in ["lock addl $1,0(%rsp)", "addl $0,0(%rsp)", "lock addl $0,%0"] {
            assert!(simple(text).is_none(), "{text}");
        }
    }
}
