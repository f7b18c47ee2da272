//! `rf`, `optimal` and `rvf` on the same question, in turns.
//!
//! Which of several engines comes to its end first can hardly be told beforehand: the first leaves of a depth-first search say little of the others. So all that have a chance
//! search, one at a time, and each keeps what it has done; whoever ends first has answered. A program that ends within the first turn of `rf` has lost nothing,
//! and since a turn is never longer than half of all that came before it, the loss is a factor: about the inverse of the share that the winner has had.
//!
//! The shares follow what is known of the executions of `rf` by a [sample](crate::graphs::Sample):
//!
//! * Where what is read leaves writes no choice of their order, `optimal` has the same classes and needs less for each. It takes over from `rf`, which keeps [a little](LOOKOUT),
//!   so that its sample goes on: should other executions be different, they change places again.
//! * `rvf` has [a third](BEGINNING) to begin with; then as much as it promises to be faster: executions per look beside those of the others, times how many reads-from
//!   classes make one of values. Many of the combinations that the sample counts cannot be, and others are not in it, so the promise may be wrong by a factor of ten either way, and neither side
//!   has less than [`LEAST`]. But whoever promises a little more gets [much more](SHARPNESS), since two who share evenly both lose a half. Where no read of the sample had two sources of the same value, `rvf` is likely to do the same work at a higher
//!   price, and comes [late](LATE).
//!
//! Turns are counted in looks at the deadline, not in time, so that with one worker the answer is the same on every machine.

use crate::graphs::{self, Optimal, Sample};
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
const LEAST: f64 = 0.1;

/// The share of `rvf` before it has done anything, where values repeat.
const BEGINNING: f64 = 0.3;

/// The shares are as this power of what is promised. This, the two above and how much work a look of `rvf` is were chosen by playing the turns again on measured curves of work and time of 28
/// programs: in the geometric mean 1.38 times the best, 3.8 at most (where `rvf` ends first, and needs 3.5 times what `optimal` needs). Shares as the promises had 1.82 and 15.
const SHARPNESS: f64 = 3.0;

/// After how many looks `rvf` comes where values do not repeat.
const LATE: u64 = 1_024;

/// The share that `rf` keeps of what `optimal` has taken over, and that `optimal` keeps where `rf` has taken it back.
const LOOKOUT: f64 = 0.06;

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

/// Those who take turns, in this order.
const BY_VALUES: usize = 0;
const BY_TRACES: usize = 1;
const BY_SOURCES: usize = 2;
const NAMES: [&str; 3] = ["rvf", "optimal", "rf"];

/// Explores in turns; with `rvf` where it takes the question.
pub(crate) fn take(question: &Question<'_>, deadline: &Deadline<'_>, with_values: bool) -> Answer {
    let (control, sample) = (deadline.control(), Sample::default());
    let [values, traces, sources] = [(); 3].map(|()| Side::beside(control));
    thread::scope(|scope| {
        let _end = [&values, &traces, &sources].map(|side| Dismissed(&side.turn));
        let by_sources =
            sources.begin(scope, deadline, |deadline| graphs::sample_reads_from(question, deadline, &sample));
        let mut players = [None, None, Some(by_sources)];
        let mut refusal = None;
        let first = loop {
            let looks: u64 = players.iter().flatten().map(|player| player.looks).sum();
            let repeats = sample.repeats() > NONE;
            if with_values
                && refusal.is_none()
                && players[BY_VALUES].is_none()
                && looks > 0
                && (repeats || looks >= LATE)
            {
                players[BY_VALUES] =
                    Some(values.begin(scope, deadline, |deadline| ReadsValueFrom.run(question, deadline)));
            }
            if players[BY_TRACES].is_none() && looks > 0 && sample.is_rigid() {
                players[BY_TRACES] = Some(traces.begin(scope, deadline, |deadline| Optimal.run(question, deadline)));
            }
            match play(&mut players, looks, &sample, control) {
                Some(BY_VALUES) if players[BY_VALUES].as_ref().is_some_and(Player::refuses) => {
                    refusal = players[BY_VALUES].take().map(Player::answer).and_then(Result::err);
                }
                Some(first) => break first,
                None => {}
            }
        };
        let why = because(first, &players, &sample, refusal);
        let first = players[first].take().expect("it has come to its end");
        answer(first, players.into_iter().flatten(), why)
    })
}

/// How long a turn may be after so many looks.
fn next(looks: u64) -> u64 {
    if looks == 0 { FIRST } else { (looks / 2).clamp(1, LONGEST) }
}

/// Gives everybody a turn. Returns who has come to the end.
fn play(players: &mut [Option<Player<'_>>; 3], looks: u64, sample: &Sample, control: &Control) -> Option<usize> {
    let turn = next(looks);
    let shares = shares(players, sample);
    let mut left = turn;
    for (at, player) in players.iter_mut().enumerate() {
        let Some(player) = player else { continue };
        let due = (shares[at] * (looks + turn) as f64) as u64;
        // What nobody else is due is for the last one.
        let given =
            if at == BY_SOURCES && shares[at] >= 0.5 { left } else { due.saturating_sub(player.looks).min(left) };
        left -= given;
        if !player.play(given, control) {
            return Some(at);
        }
    }
    None
}

/// The shares of all from now on.
fn shares(players: &[Option<Player<'_>>; 3], sample: &Sample) -> [f64; 3] {
    let traces = match (&players[BY_TRACES], sample.is_rigid()) {
        (None, _) => 0.0,
        (Some(_), true) => 1.0 - LOOKOUT,
        (Some(_), false) => LOOKOUT,
    };
    let leader = &players[if traces > 0.5 { BY_TRACES } else { BY_SOURCES }];
    let values = match (&players[BY_VALUES], leader) {
        (Some(values), Some(leader)) => share_of_values(leader, values, sample.repeats()),
        _ => 0.0,
    };
    [values, (1.0 - values) * traces, (1.0 - values) * (1.0 - traces)]
}

/// The share of `rvf` beside the better one of the others.
fn share_of_values(leader: &Player<'_>, by_values: &Player<'_>, repeats: f64) -> f64 {
    let (one, other) = (leader.rate(), by_values.rate() * repeats);
    if by_values.looks == 0 && repeats > NONE {
        BEGINNING
    } else if other == 0.0 {
        LEAST
    } else {
        (1.0 / (1.0 + (one / other).powf(SHARPNESS))).clamp(LEAST, 1.0 - LEAST)
    }
}

/// What is said of the choice; nothing where there was none.
fn because(first: usize, players: &[Option<Player<'_>>; 3], sample: &Sample, refusal: Option<Fault>) -> Option<String> {
    let of_values = format!(
        "in {} sampled executions about {:.1} reads-from classes had the same values",
        sample.executions(),
        sample.repeats()
    );
    let of_traces = format!("in {} sampled executions what was read left writes no other order", sample.asked());
    if let Some(refusal) = refusal {
        return Some(format!("auto took {}: {of_values}, but {refusal}", NAMES[first]));
    }
    let by_values = players[BY_VALUES].is_some();
    match first {
        BY_VALUES => Some(format!("auto took rvf: {of_values}")),
        BY_TRACES => Some(format!("auto took optimal: {of_traces}")),
        _ if by_values => Some(format!("auto let rf and rvf take turns: {of_values}; rf came to the end first")),
        _ => None,
    }
}

/// The answer of the one who came to its end first. Where that is only a limit, what others have found is worth as much.
fn answer<'s>(first: Player<'_>, others: impl Iterator<Item = Player<'s>>, why: Option<String>) -> Answer {
    let others: Vec<Player<'_>> = others.collect();
    others.iter().for_each(|other| other.side.turn.dismiss());
    let first = first.answer();
    let others: Vec<Answer> = others.into_iter().map(Player::answer).collect();
    let mut outcome = first?;
    outcome.notes.extend(why);
    let found = others.into_iter().flatten().find(|other| !other.findings.is_empty());
    match found {
        Some(other) if outcome.findings.is_empty() => {
            Ok(Outcome { stop: outcome.stop, scope: outcome.scope, notes: outcome.notes, ..other })
        }
        _ => Ok(outcome),
    }
}
