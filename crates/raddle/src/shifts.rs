//! Several who work on the same question, one of them at a time, each going on where it was when it is its turn again.
//!
//! Who comes to an answer can hardly be told beforehand. Turns get longer by half each time, so what the others have cost is a factor of what the winner needed, and nobody starts over.
//! Whoever is likely to end some day may have half of all the time: to it the others are no more than twice its cost, and a little.

use raddle_engine::Control;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The stack of an engine.
const STACK: usize = 256 << 20;

/// How often somebody who waits looks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// How long a turn is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// In looks at the deadline, which are as many on every machine.
    pub(crate) looks: u64,
    /// Some engine looks seldom: and no longer than this.
    pub(crate) time: Duration,
}

impl From<Duration> for Turn {
    fn from(time: Duration) -> Self {
        Turn { looks: u64::MAX, time }
    }
}

impl Turn {
    /// At most so long.
    #[must_use]
    pub(crate) fn within(self, time: Duration) -> Turn {
        Turn { time: self.time.min(time), ..self }
    }
}

/// Somebody's work, how long the first turn is, and whether later ones are as long as those of all others together.
pub(crate) struct Shift<'w, T> {
    work: Box<dyn FnOnce(&Control) -> T + Send + 'w>,
    turn: Turn,
    half: bool,
}

impl<'w, T> Shift<'w, T> {
    pub(crate) fn new(turn: impl Into<Turn>, work: impl FnOnce(&Control) -> T + Send + 'w) -> Self {
        Shift { work: Box::new(work), turn: turn.into(), half: false }
    }

    /// With half of all the time.
    #[must_use]
    pub(crate) fn half(self) -> Self {
        Shift { half: true, ..self }
    }
}

/// How long the next turn of each is, whether it is half of the time, and whether it is the first.
struct Turns(Vec<(Turn, bool, bool)>);

impl Turns {
    fn of<T>(shifts: &[Shift<'_, T>]) -> Self {
        Turns(shifts.iter().map(|shift| (shift.turn, shift.half, true)).collect())
    }

    /// The turn of somebody, who has a longer one behind it; or, if it is half of the time, one as long as those that are ahead of all others who still work.
    fn begin(&mut self, at: usize, works: impl Fn(usize) -> bool) -> Turn {
        let others = (0..self.0.len()).filter(|&other| other != at && works(other));
        let together: Duration = others.map(|other| self.0[other].0.time).sum();
        let (next, half, first) = &mut self.0[at];
        let turn = if *half && !*first { together.into() } else { *next };
        (*next, *first) = ((turn.time * 3 / 2).into(), false);
        turn
    }
}

/// What they have come to when one has come to enough, or all have come to an end. All at once if they need not take turns.
pub(crate) fn work<T: Send>(
    shifts: Vec<Shift<'_, T>>,
    control: &Control,
    together: bool,
    enough: impl Fn(usize, &T) -> bool,
) -> Vec<Option<T>> {
    let controls: Vec<Control> = shifts.iter().map(|_| Control::new()).collect();
    let mut answers: Vec<Option<T>> = shifts.iter().map(|_| None).collect();
    let mut turns = Turns::of(&shifts);
    let mut waiting: Vec<Option<_>> = shifts.into_iter().map(|shift| Some(shift.work)).collect();
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        let _end = Ended(&controls);
        while answers.iter().any(Option::is_none) {
            for at in 0..answers.len() {
                if answers[at].is_some() {
                    continue;
                }
                controls[at].go_on();
                let turn = turns.begin(at, |other| answers[other].is_none());
                if let Some(work) = waiting[at].take() {
                    let (send, control) = (send.clone(), &controls[at]);
                    // Nobody listens any more once somebody else has answered.
                    let work = move || drop(send.send((at, catch_unwind(AssertUnwindSafe(|| work(control))))));
                    let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, work);
                    thread.expect("the system has room for a thread");
                }
                let (start, looks) = (Instant::now(), controls[at].looks());
                let is_over = || start.elapsed() >= turn.time || controls[at].looks() - looks >= turn.looks;
                let alone = together || answers.iter().filter(|answer| answer.is_none()).count() == 1;
                let all_begun = !together || waiting.iter().all(Option::is_none);
                while all_begun && answers[at].is_none() && (alone || !is_over()) {
                    if let Ok((who, answer)) = receive.recv_timeout(LOOK) {
                        let answer = answer.unwrap_or_else(|panic| resume_unwind(panic));
                        let done = enough(who, &answer);
                        control.tell(&controls[who]);
                        answers[who] = Some(answer);
                        if done {
                            return;
                        }
                    } else {
                        control.tell(&controls[at]);
                    }
                    if control.stopped() {
                        controls.iter().for_each(Control::stop);
                    }
                }
                if !together {
                    controls[at].rest();
                }
            }
        }
    });
    answers
}

/// Whoever still works is to end.
struct Ended<'c>(&'c [Control]);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(Control::stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_engine::{Deadline, Limits};
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;

    const SHORT: Duration = Duration::from_millis(1);

    /// The first one cannot come to its end before the second one has had a turn, and the third one never does.
    #[test]
    fn everybody_has_turns_until_somebody_decides() {
        let told = AtomicBool::new(false);
        let until = |control: &Control, what: &dyn Fn() -> bool| {
            let deadline = Deadline::new(Limits::default(), control);
            while !what() && deadline.passed().is_none() {
                std::thread::yield_now();
            }
        };
        for together in [false, true] {
            told.store(false, Relaxed);
            let shifts = vec![
                Shift::new(SHORT, |control| {
                    until(control, &|| told.load(Relaxed));
                    1
                }),
                Shift::new(SHORT, |_| {
                    told.store(true, Relaxed);
                    2
                }),
                Shift::new(SHORT, |control| {
                    until(control, &|| false);
                    3
                }),
            ];
            let answers = work(shifts, &Control::new(), together, |who, &answer| who == 0 && answer == 1);
            assert_eq!((answers[0], answers[2]), (Some(1), None));
        }
    }

    /// The others get no more than that, but for what their first turns are longer than its own.
    #[test]
    fn half_of_the_time_is_what_the_others_have() {
        let shifts = [5, 2, 2, 2].map(|seconds| Shift::new(Duration::from_secs(seconds), |_| ()));
        let [own, others @ ..] = shifts;
        let mut turns = Turns::of(&[vec![own.half()], others.into()].into_iter().flatten().collect::<Vec<_>>());
        let mut had = [Duration::ZERO; 4];
        for round in 0..20 {
            // The last one comes to its end after a while.
            let works = |at: usize| at != 3 || round < 8;
            for at in (0..4).filter(|&at| works(at)) {
                had[at] += turns.begin(at, works).time;
                let others: Duration = had[1..].iter().sum();
                assert!(others <= had[0] + Duration::from_secs(1), "{had:?}");
            }
        }
        assert!(had[0] > Duration::from_secs(1000) && had[1] == had[2], "{had:?}");
    }

    #[test]
    fn where_nobody_decides_all_have_answered() {
        let shifts = (0..3).map(|number| Shift::new(SHORT, move |_| number)).collect();
        assert_eq!(work(shifts, &Control::new(), false, |_, _| false), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    #[should_panic(expected = "lost")]
    fn whoever_fails_is_heard() {
        work(vec![Shift::new(SHORT, |_| panic!("lost"))], &Control::new(), false, |_, &(): &()| true);
    }
}
