//! What `auto` does where looking at one execution after another comes to no end: it has all of them put into formulas.
//!
//! An unknown input with more values than can be tried one by one, or loops that turn for ever, are where engines that enumerate give up and engines that reason about all values at once need not. So these are asked when
//! `auto` has met such a thing, or has not come to an end for a while and there is such an input. Who decides is named in the answer, with why it was asked.
//!
//! Where states repeat, whoever remembers them may have seen all of them (`explicit`) long before all executions have been.
//!
//! The enumeration, `explicit`, `oc`, which finds what is near, and `cegar`, whose proofs need no bound, then take turns ([`shifts`](crate::shifts)); with more than one worker they work side by side (the portfolio of Telbisz 2024, who has them one after the other).
//!
//! Under RC11 a formula speaks of sequential consistency. What it finds is an execution of RC11, too, and is replayed there; that it finds nothing counts only where nothing races and all else is seq_cst, since then there are no other executions (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017). So races are looked for in any
//! case; one that nobody has asked for decides nothing.

use crate::engines::ENGINES;
use crate::error::Error;
use crate::prepare::prepare_with;
use crate::shifts::{Shift, Turn};
use crate::verify::Settings;
use raddle_engine::{Control, Fault, Options, Outcome, Question};
use raddle_machine::Code;
use raddle_machine::code::Instr;
use raddle_program::analysis::{Cfg, LoopBounds, decide_branches};
use raddle_program::{Block, BlockId, Function, Inst, Op, Program};
use raddle_trace::{Model, Property, Verdict};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// For how long executions are enumerated first, where there are unknown inputs, atomic blocks or loops that are never left: about three seconds.
const ENUMERATE: Turn = Turn { looks: 24_000, time: Duration::from_secs(12) };

/// And where there is nothing of that: it is likely that all executions will have been seen some day.
const ENUMERATE_LONGER: Turn = Turn { looks: 80_000, time: Duration::from_secs(40) };

/// How long the first turn of those on formulas is.
pub(crate) const TURN: Duration = Duration::from_secs(2);

/// How many values of an input are many.
const MANY: u128 = 16;

/// Who looks at one state after another, who puts executions into formulas, and who looks for a proof without a bound.
const EXPLICIT: &str = "explicit";
const OC: &str = "oc";
const CEGAR: &str = "cegar";

/// How much the process may hold while states are remembered, if nobody has set a limit.
const MEMORY: u64 = 4 << 30;

/// For how long executions are enumerated before formulas are asked, and why they are then.
pub(crate) fn after(
    program: &Program,
    code: &Code,
    settings: &Settings,
    bounded: bool,
) -> Option<(Turn, &'static str)> {
    if !may_ask(settings) {
        return None;
    }
    let inputs = (0..code.len()).any(|pc| matches!(code.instr(pc), Instr::Input { .. }));
    Some(if has_large_inputs(code) {
        (ENUMERATE, "there is an unknown input of many values, and enumerating executions came to no end")
    } else if !bounded && has_endless_loops(program) {
        (ENUMERATE, "there is a loop that is never left, and enumerating executions came to no end")
    } else {
        let patience = if inputs || code.has_atomic_blocks() { ENUMERATE } else { ENUMERATE_LONGER };
        (patience, "enumerating executions came to no end")
    })
}

/// Whether there is an unknown input of more values than are soon tried one by one.
fn has_large_inputs(code: &Code) -> bool {
    (0..code.len())
        .any(|pc| matches!(code.instr(pc), Instr::Input { values, .. } if code.input_values(values).count() > MANY))
}

/// Whether there is a loop that is never left.
fn has_endless_loops(program: &Program) -> bool {
    program.functions.iter().any(|function| never_left(function, |_| true))
}

/// Whether threads are started in a loop that is never left. No formula has them all, and an execution of one after another is very long.
pub(crate) fn starts_threads_for_ever(program: &Program) -> bool {
    let starts = |inst: &Inst| matches!(inst.op, Op::Spawn { .. });
    // The condition of a loop may be a constant.
    let mut program = program.clone();
    decide_branches(&mut program);
    program.functions.iter().any(|function| never_left(function, |block| block.insts.iter().any(starts)))
}

/// Whether control never gets out behind one of these blocks.
fn never_left(function: &Function, of: impl Fn(&Block) -> bool) -> bool {
    let cfg = Cfg::new(function);
    let blocks = cfg.reverse_postorder();
    let mut ends = vec![false; function.blocks.len()];
    let mut todo: Vec<BlockId> = blocks.iter().copied().filter(|&block| cfg.successors(block).is_empty()).collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut ends[block.index()], true) {
            todo.extend(cfg.predecessors(block));
        }
    }
    blocks.iter().any(|block| !ends[block.index()] && of(&function.blocks[block.index()]))
}

/// Whether `auto` may ask somebody else.
fn may_ask(settings: &Settings) -> bool {
    let knows = Model::OPERATIONAL.contains(&settings.options.model) || settings.options.model == Model::Rc11;
    settings.engine.name() == "auto" && knows && !settings.options.keep_schedules
}

/// A question for engines on formulas.
pub(crate) struct Formulas<'s> {
    code: Code,
    options: Options,
    settings: &'s Settings,
    /// Whether it counts that nothing is found.
    same: bool,
    why: String,
}

impl<'s> Formulas<'s> {
    /// The question that is put to them for that reason; `None` if they are not to be asked.
    pub(crate) fn new(program: &Program, settings: &'s Settings, bounds: &LoopBounds, why: &str) -> Option<Self> {
        if !may_ask(settings) {
            return None;
        }
        let code = prepare_with(program, bounds.clone(), settings.bound_all_loops, settings.options.properties);
        let weak = settings.options.model == Model::Rc11;
        let mut options = Options { switches: Default::default(), workers: 1, ..settings.options.clone() };
        // Where nothing races and all else is seq_cst, the executions are those of sequential consistency.
        let same = !weak || (code.is_seq_cst() && !code.has_atomic_blocks());
        if weak {
            options.model = Model::Sc;
        }
        if weak && same {
            options.properties = options.properties.with(Property::Race);
        }
        Some(Formulas { code, options, settings, same, why: why.to_owned() })
    }

    /// What each of them is to do, with how much time is left when it begins; and that they have begun.
    pub(crate) fn shifts<'a>(
        &'a self,
        left: &'a (impl Fn() -> Duration + Sync),
        begun: &'a AtomicBool,
    ) -> Vec<Shift<'a, Answer>> {
        let shift = |&name: &&'static str| {
            Shift::new(TURN, move |control| {
                begun.store(true, Relaxed);
                self.ask(name, control, left())
            })
        };
        // States are as many as there are values.
        let all = [EXPLICIT, OC, CEGAR];
        all[usize::from(has_large_inputs(&self.code))..].iter().map(shift).collect()
    }

    /// What an engine decides; nothing if it does not take the program, which may show only when it has begun.
    fn ask(&self, name: &str, control: &Control, patience: Duration) -> Answer {
        let engine = ENGINES.find(name).expect("it is among them");
        let question = Question { code: &self.code, options: &self.options };
        if patience.is_zero() || engine.takes(&question).is_err() {
            return Ok(None);
        }
        let mut options = self.options.clone();
        options.limits.time = Some(patience);
        if name == EXPLICIT {
            options.limits.memory.get_or_insert(MEMORY);
        }
        let outcome = match engine.ask(&Question { options: &options, ..question }, control) {
            Ok(outcome) => outcome,
            Err(Fault::Refused(_)) => return Ok(None),
            Err(fault) => return Err(fault.into()),
        };
        if self.decides(&outcome) { self.noted(name, outcome).map(Some) } else { Ok(None) }
    }

    fn decides(&self, outcome: &Outcome) -> bool {
        let wanted = self.settings.options.properties;
        match outcome.verdict {
            Verdict::Violated => outcome.findings.iter().all(|found| wanted.contains(found.violation().property)),
            Verdict::Holds => self.same,
            Verdict::Unknown => false,
        }
    }

    /// The answer, with who has decided and why it was asked.
    fn noted(&self, name: &str, mut outcome: Outcome) -> Result<Outcome, Error> {
        outcome.notes.push(format!("auto took {name}: {}", self.why));
        if self.settings.options.model != Model::Rc11 {
            return Ok(outcome);
        }
        let meant = Question { code: &self.code, options: &self.settings.options };
        let findings: Result<Vec<_>, Fault> =
            outcome.findings.iter().map(|found| found.confirmed_for(&meant)).collect();
        outcome.findings = findings?;
        outcome.notes.push(match outcome.verdict {
            Verdict::Violated => {
                "found under sc, whose executions are executions of rc11, too, and shown under rc11".into()
            }
            _ => "decided under sc: all atomic accesses are seq_cst and nothing races, so rc11 has no other executions"
                .into(),
        });
        Ok(outcome)
    }
}

/// What somebody decides, if anything.
pub(crate) type Answer = Result<Option<Outcome>, Error>;
