//! Loops that turn for ever without a sound.
//!
//! `while (1);`, `L: goto L;`, and `while (!go);` around a register that the loop leaves alone: whoever has gone round once has the registers it had, has looked at nothing that others could change, and so goes round
//! for ever. People write them to end a thread (`if (!ok) for (;;);`) and, in place of an assumption, to end an execution. No other thread can tell such a thread from one that has stopped, so it
//! stops, as at an assumption that fails: it goes no further, the others do, and that somebody waits for it is no deadlock.
//!
//! Two shapes:
//! - *Closed*: no way leads out, and nothing but assignments that cannot fail is inside. Whatever the registers hold, it is over at the head.
//! - *Unchanged*: of a natural loop without inner cycles the ways through a turn are followed ([`paths`](super::paths)); a jump back stops the thread if every way to it reads
//!   nothing, writes nothing and leaves each register that is live at the head as it was. The turn itself is executed: it may fail.
//!
//! Questions about runs that never end do not come through here. Cost: as of the other shapes of loops.

use super::paths::{End, Paths, Start, Turn};
use super::{Silence, has_inner_cycle, is_too_large, new_block, silent_functions};
use crate::analysis::cfg::Cfg;
use crate::analysis::liveness::{Liveness, may_fail};
use crate::analysis::loops::{Loop, Loops};
use crate::expr::Expr;
use crate::inst::{Block, Inst, Op, Term, Terminator};
use crate::program::{BlockId, Function, Program, drop_unreachable_blocks};
use crate::source::Span;

/// Stops threads where they would turn for ever without a sound; returns the places, without those that nobody wrote. The program must be valid, and stays so.
pub fn stop_silent_loops(program: &mut Program) -> Vec<Span> {
    let silent = silent_functions(program);
    let mut places = Vec::new();
    for function in &mut program.functions {
        let found = stop(function, &silent);
        if !found.is_empty() {
            drop_unreachable_blocks(function);
        }
        places.extend(found.into_iter().filter(|span| span.line > 0));
    }
    places.sort_unstable();
    places.dedup_by_key(|span| (span.file, span.line));
    places
}

/// Where there were such loops.
fn stop(function: &mut Function, silent: &[Silence]) -> Vec<Span> {
    let cfg = Cfg::new(function);
    let mut places = Vec::new();
    if cfg.retreating_edges().is_empty() || is_too_large(function, &cfg) {
        return places;
    }
    let loops = Loops::new(function, &cfg);
    let live = Liveness::new(function, &cfg);
    // What is known of the graph stays true: a loop that is changed is none any more, and jumps back of others only get a block of their own.
    for l in &loops.list {
        if is_closed(function, l) {
            places.push(function.blocks[l.head.index()].term.span);
            for block in &l.blocks {
                let span = function.blocks[block.index()].term.span;
                let term = Terminator { kind: Term::Unreachable, span };
                function.blocks[block.index()] = Block { turn: None, insts: vec![stopped(span)], term };
            }
        } else if l.natural && !has_inner_cycle(&cfg, l) {
            for from in unchanged(function, &live, l, silent) {
                places.push(function.blocks[from.index()].term.span);
                stop_at_the_jump(function, from, l.head);
            }
        }
    }
    places
}

/// Whether nobody leaves the loop, and nothing happens in it.
fn is_closed(function: &Function, l: &Loop) -> bool {
    l.blocks.iter().all(|block| {
        let block = &function.blocks[block.index()];
        let mut inside = matches!(block.term.kind, Term::Goto(_) | Term::If(..) | Term::Switch(..));
        block.term.kind.for_each_target(|target| inside &= l.contains(target));
        let fails = match &block.term.kind {
            Term::If(value, ..) | Term::Switch(value, ..) => may_fail(value),
            _ => false,
        };
        inside
            && !fails
            && block.insts.iter().all(|inst| matches!(&inst.op, Op::Assign { value, .. } if !may_fail(value)))
    })
}

/// The blocks of a natural loop without inner cycles from which every jump back ends a turn that the next one will repeat.
fn unchanged(function: &Function, live: &Liveness, l: &Loop, silent: &[Silence]) -> Vec<BlockId> {
    let paths = Paths { function, l, silent };
    let Some(turns) = paths.from(Start::Head) else { return Vec::new() };
    let repeats = |turn: &Turn| {
        let same = |reg| turn.value(reg) == Expr::Reg(reg);
        turn.reads == 0 && turn.has_no_effect() && live.live_in(l.head).iter().all(same)
    };
    let sources = l.back_edges.iter().map(|&(from, _)| from);
    let ends = |turn: &&Turn, from: BlockId| turn.end == End::Back(from);
    let all_repeat = |from: &BlockId| {
        let mut ways = turns.iter().filter(|turn| ends(turn, *from)).peekable();
        ways.peek().is_some() && ways.all(repeats)
    };
    sources.filter(all_repeat).collect()
}

/// Whoever jumps from `from` back to `head` stops instead.
fn stop_at_the_jump(function: &mut Function, from: BlockId, head: BlockId) {
    let Terminator { mut kind, span } = function.blocks[from.index()].term.clone();
    let end = new_block(function, Term::Unreachable, span);
    function.blocks[end.index()].insts = vec![stopped(span)];
    kind.map_targets(|target| if target == head { end } else { target });
    function.blocks[from.index()].term.kind = kind;
}

/// Where a thread goes no further.
fn stopped(span: Span) -> Inst {
    Inst { op: Op::Assume { cond: Expr::bool(false) }, span }
}

#[cfg(test)]
mod tests {
    use super::stop_silent_loops;
    use crate::{parse, print, validate};

    /// The first function with this body, with its silent loops stopped.
    fn stopped(body: &str) -> String {
        let text = format!(
            "global x: i32;
             fn f(p: i32, q: i32) {{ {body} }}
             fn twice(n: i32) -> i32 {{ return n + n; }}
             fn main() {{ f(1, 2); }}"
        );
        let mut program = parse("test.rdl", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
        stop_silent_loops(&mut program);
        validate(&program).expect("a changed program is valid");
        let printed = print(&program);
        printed[..printed.find("fn twice").expect("it has one")].to_owned()
    }

    #[test]
    fn a_loop_that_nobody_leaves_and_in_which_nothing_happens_stops_its_thread() {
        for body in [
            "loop { }",
            "a: goto a;",
            "store x, 1; if p == 1 { loop { } } store x, 2;",
            "let i = 0; loop { i = i + 1; if i == 3 { q = 7; } }",
            "a: if p == 1 goto b else c; b: goto c; c: goto a;",
            "if p == 1 goto b else c; b: goto c; c: goto b;",
        ] {
            let text = stopped(body);
            assert!(text.contains("assume false"), "{text}");
            assert!(!text.contains("loop") && !text.contains("goto a"), "{text}");
        }
    }

    #[test]
    fn a_turn_that_the_next_one_repeats_stops_its_thread_when_it_is_over() {
        for body in [
            "while p == 1 { }",
            "while p == 1 { let t = p * 2; q = twice(t); q = 0; }",
            "loop { if p == 1 { assert q != 2; continue; } break; }",
            "loop { let t = 5 / q; if t == 5 { break; } }",
        ] {
            assert!(stopped(body).contains("assume false"), "{}", stopped(body));
        }
    }

    #[test]
    fn what_may_go_on_is_left_alone() {
        for body in [
            "loop { let r = load x; if r == 1 { break; } }",
            "while p < 10 { p = p + 1; }",
            "loop { store x, 1; }",
            "loop { let r = choose 0..1; if r == 1 { break; } }",
            "loop { q = 1 / p; p = p - 1; }",
            "loop { p = p - 1; assert p != 5; }",
            "loop { if p == 1 { return; } p = p + 1; }",
            "let r = load x; loop { fence.sc; if r == p { exit; } p = q; }",
        ] {
            let text = stopped(body);
            assert!(!text.contains("assume"), "{body}: {text}");
        }
    }
}
