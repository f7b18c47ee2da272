//! `rf` and `rvf` on the same question, in turns.
//!
//! Which of two engines comes to its end first can hardly be told beforehand: the first leaves of a depth-first search say little of the others. So both
//! search, one at a time, and each keeps what it has done; whoever ends first has answered. A program that ends within the first turn of `rf` has lost nothing,
//! and since a turn is never longer than half of all that came before it, the loss is a factor: about the inverse of the share that the winner has had.
//!
//! The shares follow what is known. `rvf` has a half to begin with; then as much as it promises to be faster: executions per look beside those of `rf`, times how many reads-from
//! classes make one of values by the [sample](crate::graphs::Sample). Many of the combinations that the sample counts cannot be, and on the programs of the bench the root of the
//! number was closer to the truth. Neither has less than [`LEAST`]. Where no read of the sample had two sources of the same value, `rvf` is likely to do the same work at a higher
//! price: it comes [late](LATE) and may have less. To give most to the one that promises more, be it ever so little, was worse: the promise is not that good.
//!
//! Turns are counted in looks at the deadline, not in time, so that with one worker the answer is the same on every machine.

use crate::graphs::{self, Sample};
use crate::rvf::ReadsValueFrom;
use crate::workers::STACK;
use raddle_engine::{Control, Deadline, Engine, Fault, Outcome, Question, Turn};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The first turn of `rf`, in looks.
const FIRST: u64 = 64;

/// The longest turn. Whoever watches sees how far a search is between turns.
const LONGEST: u64 = 4_096;

/// The least share of an engine that takes part.
const LEAST: f64 = 0.2;

/// The share of `rvf` where values do not repeat, and after how many looks it comes.
const HARDLY: f64 = 0.1;
const LATE: u64 = 1_024;

/// So many reads-from classes for one of values are none to speak of.
const NONE: f64 = 1.01;

type Answer = Result<Outcome, Fault>;

/// One who takes turns.
#[derive(Debug)]
struct Side {
    turn: Turn,
    control: Control,
    refused: AtomicBool,
}

/// Its thread, and how many looks it has had.
struct Player<'scope> {
    side: &'scope Side,
    thread: thread::ScopedJoinHandle<'scope, Answer>,
    looks: u64,
}

impl Side {
    fn beside(control: &Control) -> Self {
        Side { turn: Turn::new(), control: control.beside(), refused: AtomicBool::new(false) }
    }

    /// Lets it wait for its first turn.
    fn begin<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        deadline: &'scope Deadline<'_>,
        explore: impl FnOnce(&Deadline<'_>) -> Answer + Send + 'scope,
    ) -> Player<'scope> {
        let work = move || {
            self.turn.work(|| {
                let answer = explore(&deadline.with_turn(&self.turn, &self.control));
                self.refused.store(matches!(answer, Err(Fault::Refused(_))), Ordering::Relaxed);
                answer
            })
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        Player { side: self, thread: thread.expect("the system has room for a thread"), looks: 0 }
    }
}

impl Player<'_> {
    /// Gives it a turn of so many looks. Returns whether it has more to do.
    fn play(&mut self, looks: u64, watched: &Control) -> bool {
        self.looks += looks;
        let more = looks == 0 || self.side.turn.give(looks);
        watched.tell(&self.side.control);
        more
    }

    /// Executions that ended for each look.
    fn rate(&self) -> f64 {
        let progress = self.side.control.progress();
        (progress.executions + progress.blocked) as f64 / self.looks.max(1) as f64
    }

    /// Whether it has ended because it does not take the program after all.
    fn refuses(&self) -> bool {
        self.side.refused.load(Ordering::Relaxed)
    }

    /// What it has come to.
    fn answer(self) -> Answer {
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

/// Nobody waits for a turn that is not given any more, whatever happened.
struct Dismissed<'t>(&'t Turn);

impl Drop for Dismissed<'_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// Explores in turns.
pub(crate) fn take(question: &Question<'_>, deadline: &Deadline<'_>) -> Answer {
    let (control, sample) = (deadline.control(), Sample::default());
    let (sources, values) = (Side::beside(control), Side::beside(control));
    thread::scope(|scope| {
        let _end = (Dismissed(&sources.turn), Dismissed(&values.turn));
        let mut by_sources =
            sources.begin(scope, deadline, |deadline| graphs::sample_reads_from(question, deadline, &sample));
        let mut turn = FIRST;
        while by_sources.play(turn, control) {
            if sample.repeats() > NONE || by_sources.looks >= LATE {
                let by_values = values.begin(scope, deadline, |deadline| ReadsValueFrom.run(question, deadline));
                return alternate(by_sources, by_values, &sample, control);
            }
            turn = next(by_sources.looks);
        }
        by_sources.answer()
    })
}

/// How long a turn may be after so many looks.
fn next(looks: u64) -> u64 {
    (looks / 2).clamp(1, LONGEST)
}

/// The share of `rvf` from now on.
fn share(by_sources: &Player<'_>, by_values: &Player<'_>, repeats: f64) -> f64 {
    let (one, other) = (by_sources.rate(), by_values.rate() * repeats.sqrt());
    let least = if repeats > NONE { LEAST } else { HARDLY };
    match one + other {
        _ if by_values.looks == 0 && repeats > NONE => 0.5,
        0.0 => least,
        both => (other / both).clamp(least, 1.0 - LEAST),
    }
}

/// Gives turns until one has come to its end.
fn alternate(mut by_sources: Player<'_>, mut by_values: Player<'_>, sample: &Sample, control: &Control) -> Answer {
    let values_first = loop {
        let looks = by_sources.looks + by_values.looks;
        let turn = next(looks);
        let due = share(&by_sources, &by_values, sample.repeats()) * (looks + turn) as f64;
        let of_values = (due as u64).saturating_sub(by_values.looks).min(turn);
        if !by_values.play(of_values, control) {
            break true;
        }
        if !by_sources.play(turn - of_values, control) {
            break false;
        }
    };
    let why = format!(
        "in {} sampled executions about {:.1} reads-from classes had the same values",
        sample.executions(),
        sample.repeats()
    );
    if !values_first {
        let note = format!("auto let rf and rvf take turns: {why}; rf came to the end first");
        return first(by_sources, by_values, note);
    }
    if by_values.refuses() {
        while by_sources.play(LONGEST, control) {}
        let Err(refusal) = by_values.answer() else { unreachable!("it refuses") };
        let mut outcome = by_sources.answer()?;
        outcome.notes.push(format!("auto took rf: {why}, but {refusal}"));
        return Ok(outcome);
    }
    first(by_values, by_sources, format!("auto took rvf: {why}"))
}

/// The answer of the one who came to its end first. Where that is only a limit, what the other one has found is worth as much.
fn first(first: Player<'_>, second: Player<'_>, note: String) -> Answer {
    second.side.turn.dismiss();
    let (first, second) = (first.answer(), second.answer());
    let mut outcome = first?;
    outcome.notes.push(note);
    match second {
        Ok(second) if outcome.findings.is_empty() && !second.findings.is_empty() => {
            Ok(Outcome { stop: outcome.stop, scope: outcome.scope, notes: outcome.notes, ..second })
        }
        _ => Ok(outcome),
    }
}
