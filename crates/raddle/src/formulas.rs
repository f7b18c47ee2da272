//! What `auto` does where looking at one execution after another comes to no end: it has all of them put into formulas.
//!
//! An unknown input with more values than can be tried one by one, or loops that turn for ever, are where engines that enumerate give up and engines that reason about all values at once need not. So these are asked when
//! `auto` has met such a thing, or has not come to an end for a while and there is such an input. Who decides is named in the answer, with why it was asked.
//!
//! Meanwhile the enumeration rests, and goes on where it was if nobody decides ([`beside`]). When it has done as much again, they are asked again, for longer. Nobody knows who
//! would come to an end first; as it is, whoever decides has had a share of all the time, and what the others took is a [multiple](Patience::share) of what the enumeration needed.
//!
//! With one worker `oc` is asked for a while, since it finds what is near, then `cegar`, whose proofs need no bound, then `oc` again with what time is left; with more they work side by side (the portfolio of Telbisz 2024, in the order that our notes on it propose).
//!
//! Under RC11 a formula speaks of sequential consistency. What it finds is an execution of RC11, too, and is replayed there; that it finds nothing counts only where nothing races and all else is seq_cst, since then there are no other executions (Lahav, Vafeiadis, Kang, Hur, Dreyer 2017). So races are looked for in any
//! case; one that nobody has asked for decides nothing.

use crate::engines::ENGINES;
use crate::error::Error;
use crate::prepare::prepare_with;
use crate::verify::Settings;
use raddle_engine::{Control, Engine, Fault, Options, Outcome, PropertySet, Question, StopReason};
use raddle_machine::Code;
use raddle_machine::code::Instr;
use raddle_program::analysis::{Cfg, LoopBounds, decide_branches};
use raddle_program::{Block, BlockId, Function, Inst, Op, Program};
use raddle_trace::{Model, Property, Verdict};
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// For how long executions are enumerated first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// In looks at the deadline, so that it is as much on every machine.
    looks: u64,
    /// Some engine may look seldom: and no longer than this.
    time: Duration,
    /// For how long others are asked then, for each second that was enumerated.
    share: f64,
    /// Whether they are asked again when as much again has been enumerated.
    again: bool,
}

/// Where there are unknown inputs, atomic blocks or loops that are never left. That is about five seconds.
const ENUMERATE: Patience = Patience { looks: 40_000, time: Duration::from_secs(20), share: 1.0, again: true };

/// And where there is nothing of that: it is likely that all executions will have been seen some day.
const ENUMERATE_LONGER: Patience = Patience { looks: 160_000, time: Duration::from_secs(80), share: 0.25, again: true };

impl Patience {
    /// At most so much, and then they are asked once.
    #[must_use]
    pub(crate) fn within(self, limit: Duration) -> Patience {
        Patience { time: self.time.min(limit), again: false, ..self }
    }
}

/// The stack of an engine that enumerates.
const STACK: usize = 256 << 20;

/// How often somebody who waits looks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// How many values of an input are many.
const MANY: u128 = 16;

/// Who puts executions into formulas, and who looks for a proof without a bound.
const OC: &str = "oc";
const CEGAR: &str = "cegar";

/// For how long executions are enumerated before formulas are asked, and why they are then.
pub(crate) fn after(
    program: &Program,
    code: &Code,
    settings: &Settings,
    bounded: bool,
) -> Option<(Patience, &'static str)> {
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

/// What an enumeration comes to, or what is decided while it rests.
pub(crate) enum Beside {
    /// It has come to an end, be it a limit; and whether others were asked meanwhile.
    Enumerated(Outcome, bool),
    Decided(Outcome),
}

/// Looks at one execution after another; now and then that rests, others are asked for so long, and it goes on if they do not decide.
///
/// # Errors
/// Those of the engine and of those who are asked.
pub(crate) fn beside(
    engine: &'static dyn Engine,
    question: &Question<'_>,
    control: &Control,
    mut patience: Patience,
    mut others: impl FnMut(Duration) -> Result<Option<Outcome>, Error>,
) -> Result<Beside, Error> {
    let own = Control::new();
    std::thread::scope(|scope| {
        let _end = Ended(&own);
        let (send, receive) = mpsc::channel();
        let heard = &own;
        let work = move || drop(send.send(engine.ask(question, heard)));
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.expect("the system has room for a thread");
        let hear = |until: u64, time: Duration| {
            let start = Instant::now();
            while own.looks() < until && start.elapsed() < time {
                match receive.recv_timeout(LOOK.min(time.saturating_sub(start.elapsed()))) {
                    Err(mpsc::RecvTimeoutError::Timeout) => control.tell(&own),
                    answer => return Some(answer.ok()),
                }
                if control.stopped() {
                    own.stop();
                }
            }
            None
        };
        let (mut asked, mut enumerated) = (false, Duration::ZERO);
        let answer = loop {
            let start = Instant::now();
            let (until, time) = match asked && !patience.again {
                true => (u64::MAX, Duration::MAX),
                false => (patience.looks, patience.time),
            };
            if let Some(answer) = hear(until, time) {
                break answer;
            }
            own.rest();
            asked = true;
            enumerated += start.elapsed();
            if let Some(outcome) = others(enumerated.mul_f64(patience.share))? {
                return Ok(Beside::Decided(outcome));
            }
            (patience.looks, patience.time) = (2 * own.looks(), 2 * enumerated);
            control.tell(&own);
            own.go_on();
        };
        match answer {
            Some(outcome) => {
                control.tell(&own);
                Ok(Beside::Enumerated(outcome?, asked))
            }
            None => resume_unwind(thread.join().expect_err("it has said nothing")),
        }
    })
}

/// Whoever still works is to end.
struct Ended<'c>(&'c Control);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
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

/// What an engine on formulas decides within this time, if it decides anything.
///
/// # Errors
/// If Raddle finds a bug in itself.
pub(crate) fn decide(
    program: &Program,
    settings: &Settings,
    bounds: &LoopBounds,
    control: &Control,
    patience: Duration,
    why: &str,
) -> Result<Option<Outcome>, Error> {
    if !may_ask(settings) || patience.is_zero() {
        return Ok(None);
    }
    let code = prepare_with(program, bounds.clone(), settings.bound_all_loops, settings.options.properties);
    let meant = Question { code: &code, options: &settings.options };
    let weak = settings.options.model == Model::Rc11;
    let mut options = settings.options.clone();
    options.switches = Default::default();
    options.workers = 1;
    // Where nothing races and all else is seq_cst, the executions are those of sequential consistency.
    let same = !weak || (code.is_seq_cst() && !code.has_atomic_blocks());
    if weak {
        options.model = Model::Sc;
    }
    if weak && same {
        options.properties = options.properties.with(Property::Race);
    }
    let asked = Asked { code: &code, options, wanted: settings.options.properties, same };
    control.restart();
    let both = [OC, CEGAR].into_iter().all(|name| asked.takes(name));
    let found = if both && settings.options.workers > 1 {
        asked.side_by_side(control, patience)?
    } else {
        asked.in_turns(control, patience, both)?
    };
    let Some((name, mut outcome)) = found else { return Ok(None) };
    if weak {
        let findings: Result<Vec<_>, Fault> =
            outcome.findings.iter().map(|found| found.confirmed_for(&meant)).collect();
        outcome.findings = findings?;
    }
    outcome.notes.push(format!("auto took {name}: {why}"));
    if weak {
        outcome.notes.push(match outcome.verdict {
            Verdict::Violated => {
                "found under sc, whose executions are executions of rc11, too, and shown under rc11".into()
            }
            _ => "decided under sc: all atomic accesses are seq_cst and nothing races, so rc11 has no other executions"
                .into(),
        });
    }
    Ok(Some(outcome))
}

/// A question for engines on formulas.
struct Asked<'c> {
    code: &'c Code,
    options: Options,
    /// What was asked for; races may be looked for beside.
    wanted: PropertySet,
    /// Whether it counts that nothing is found.
    same: bool,
}

impl Asked<'_> {
    fn takes(&self, name: &str) -> bool {
        let engine = ENGINES.find(name).expect("it is among them");
        engine.takes(&Question { code: self.code, options: &self.options }).is_ok()
    }

    /// What an engine says; `None` if it does not take the program, which may show only when it has begun.
    fn ask(&self, name: &str, control: &Control, patience: Duration) -> Result<Option<Outcome>, Fault> {
        if control.stopped() || patience.is_zero() || !self.takes(name) {
            return Ok(None);
        }
        let mut options = self.options.clone();
        options.limits.time = Some(patience);
        let engine = ENGINES.find(name).expect("it is among them");
        match engine.ask(&Question { code: self.code, options: &options }, control) {
            Ok(outcome) => Ok(Some(outcome)),
            Err(Fault::Refused(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn decides(&self, outcome: &Outcome) -> bool {
        match outcome.verdict {
            Verdict::Violated => outcome.findings.iter().all(|found| self.wanted.contains(found.violation().property)),
            Verdict::Holds => self.same,
            Verdict::Unknown => false,
        }
    }

    /// One after the other: formulas for a while, then a proof without a bound, then formulas with more and more turns of loops.
    fn in_turns(&self, control: &Control, patience: Duration, both: bool) -> Result<Option<Decided>, Error> {
        let start = Instant::now();
        let left = || patience.saturating_sub(start.elapsed());
        let mut turns = vec![(OC, if both { patience / 4 } else { patience }), (CEGAR, patience / 2)];
        turns.extend(both.then_some((OC, patience)));
        let mut done = false;
        for (name, slice) in turns {
            if name == OC && done {
                break;
            }
            control.restart();
            let Some(outcome) = self.ask(name, control, slice.min(left()))? else { continue };
            if self.decides(&outcome) {
                return Ok(Some((name, outcome)));
            }
            // Whoever did not run out of time would say the same again.
            done |= name == OC && !matches!(outcome.stop, Some(StopReason::Time(_)));
        }
        Ok(None)
    }

    /// Both at once; whoever decides first ends it.
    fn side_by_side(&self, control: &Control, patience: Duration) -> Result<Option<Decided>, Error> {
        let controls = [Control::new(), Control::new()];
        let names = [OC, CEGAR];
        let (send, receive) = mpsc::channel();
        let mut found = None;
        let mut fault = None;
        std::thread::scope(|scope| {
            for (name, own) in names.into_iter().zip(&controls) {
                let send = send.clone();
                // Nobody listens any more once the other one has decided.
                scope.spawn(move || drop(send.send((name, self.ask(name, own, patience)))));
            }
            drop(send);
            loop {
                if control.stopped() {
                    controls.iter().for_each(Control::stop);
                }
                match receive.recv_timeout(Duration::from_millis(20)) {
                    Ok((name, Ok(Some(outcome)))) if found.is_none() && self.decides(&outcome) => {
                        found = Some((name, outcome));
                        controls.iter().for_each(Control::stop);
                    }
                    Ok((_, Err(error))) => fault = fault.take().or(Some(error)),
                    Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        match fault {
            Some(fault) => Err(fault.into()),
            None => Ok(found),
        }
    }
}

/// Who decided, and what.
type Decided = (&'static str, Outcome);
