//! What comes behind a false assertion, or an error mark, for somebody who does not look for it?
//!
//! Nothing, where programs end as those of C do: a false `assert` ends the program (C11 7.2.1.1), and so does `abort`, and `reach_error` of competitions. So the instruction
//! becomes a way to the end of the program. Elsewhere nobody says what comes behind, and the execution is cut off there.

use crate::inst::{Block, ErrorKind, Inst, Op, Term, Terminator};
use crate::program::{BlockId, Function, Program};

/// Which of them are not looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unheeded {
    /// False assertions.
    pub assertions: bool,
    /// Error marks.
    pub marks: bool,
}

/// Lets a program that ends as those of C do end where it comes to one of these.
pub fn end_where_unheeded(program: &mut Program, unheeded: Unheeded) {
    if program.entry_exits && (unheeded.assertions || unheeded.marks) {
        program.functions.iter_mut().for_each(|function| end_in(function, unheeded));
    }
}

fn end_in(function: &mut Function, unheeded: Unheeded) {
    let ends = |op: &Op| match op {
        Op::Assert { .. } => unheeded.assertions,
        Op::Error { kind: ErrorKind::Mark, .. } => unheeded.marks,
        _ => false,
    };
    // Blocks that are split go on at the end of the list, and are looked at there.
    let mut at = 0;
    while let Some(block) = function.blocks.get_mut(at) {
        if let Some(first) = block.insts.iter().position(|inst| ends(&inst.op)) {
            let mut rest = block.insts.split_off(first);
            let Inst { op, span } = rest.remove(0);
            let exit = Terminator { kind: Term::Exit, span };
            match op {
                Op::Assert { cond, .. } => {
                    let next = BlockId(function.blocks.len() as u32);
                    let end = BlockId(next.0 + 1);
                    let branch = Terminator { kind: Term::If(cond, next, end), span };
                    let term = std::mem::replace(&mut function.blocks[at].term, branch);
                    function.blocks.push(Block { turn: None, insts: rest, term });
                    function.blocks.push(Block { turn: None, insts: Vec::new(), term: exit });
                }
                _ => block.term = exit,
            }
        }
        at += 1;
    }
    crate::program::drop_unreachable_blocks(function);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse, print, validate};

    fn ended(text: &str, unheeded: Unheeded) -> String {
        let mut program = parse("test.rdl", text, &[]).unwrap_or_else(|e| panic!("{e}"));
        end_where_unheeded(&mut program, unheeded);
        validate(&program).expect("it stays valid");
        print(&program)
    }

    const ALL: Unheeded = Unheeded { assertions: true, marks: true };

    #[test]
    fn a_program_as_in_c_ends_there() {
        let body = "global g: i32; entry main exit; fn main() { let a = load g; assert a == 1, \"one\"; store g, 2; error \"there\"; }";
        let text = ended(body, ALL);
        assert!(!text.contains("assert") && !text.contains("error") && text.contains("store"), "{text}");
        let text = ended(body, Unheeded { marks: false, ..ALL });
        assert!(!text.contains("assert") && text.contains("error"), "{text}");
    }

    #[test]
    fn others_are_left_as_they_are() {
        let text = ended("global g: i32; fn main() { let a = load g; assert a == 1, \"one\"; }", ALL);
        assert!(text.contains("assert"), "{text}");
    }
}
