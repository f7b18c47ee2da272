//! Which reads can only find what was never written?
//!
//! Those of a local object that is mentioned nowhere but as the address of loads: nobody can write it. A front end reads such an object where a
//! variable that lives in a register has no value. Where that is not looked for as an error, the variable has any value (C11 6.2.6.1, 3.19.2), that
//! is, it is an unknown input, and which of its values make a difference is for [`inputs`](super::inputs) to find out. Pointers are left
//! alone: of all the addresses one may have, none would be explored but null.

use super::mentions::mentioned_only;
use crate::expr::Expr;
use crate::inst::{Op, Unwritten};
use crate::program::{Function, LocalId, Program};
use crate::types::Type;

/// Turns reads of objects that nobody can write into unknown inputs.
pub fn give_any_value(program: &mut Program) {
    program.functions.iter_mut().for_each(give_in);
}

fn give_in(function: &mut Function) {
    let only_read = mentioned_only(function, read);
    for inst in function.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if let Some(local) = read(&inst.op)
            && only_read[local.index()]
            && let Op::Load { dst: Some(dst), ty, .. } = inst.op
        {
            inst.op = match ty {
                Type::Ptr => continue,
                Type::I1 => Op::Choose { dst, low: 0, high: 1, draw: None },
                _ => Op::Input { dst, signed: true, values: None },
            };
        }
    }
}

/// The local object that the instruction does nothing but read.
fn read(op: &Op) -> Option<LocalId> {
    match op {
        Op::Load { dst: Some(_), addr: Expr::Local(id), until: None, unwritten: Unwritten::Error, .. } => Some(*id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print};

    fn given(body: &str) -> String {
        let text = format!("global g: ptr; fn main() {{ var x: i32; {body} }}");
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        give_any_value(&mut program);
        print(&program)
    }

    #[test]
    fn what_nobody_can_write_has_any_value() {
        assert!(!given("let a = load x; let b = load x; assert a == b, \"same\";").contains("load"));
        assert!(given("let a = load x; store x, 1;").contains("load"));
        assert!(given("let a = load x; store g, &x;").contains("load"));
    }
}
