//! What a search over sequences of events has around it, whatever its nodes are: the events, what goes wrong on the way, what
//! was found, and the walk until all is done or a limit is reached.
//!
//! An engine is a [`Walk`]: it says what it does first, what one step is, and whether anything is left. The [`Shell`] keeps the
//! [`Frontier`], shows bugs (or the race that comes before), counts ends of executions, and asks for sequences.

use super::frontier::Frontier;
use super::lives;
use super::races::{Race, Races};
use super::report::{End, Report, Stop};
use super::run::{Bug, Extended};
use super::witness::{Question, Witness};
use crate::world::arrivals_told_apart;
use raddle_consistency::Interrupted;
use raddle_consistency::values::Heuristics;
use raddle_engine::{self as engine, Deadline, Fault, Options, Outcome, Refusal};
use raddle_machine::Automaton;
use raddle_trace::{EventId, Property, ThreadId};

/// The events of a search, and what it has found.
pub(crate) struct Shell<'c> {
    pub(crate) options: &'c Options,
    /// After how many events an execution is cut off.
    pub(crate) depth: usize,
    pub(crate) frontier: Frontier<'c>,
    pub(crate) report: Report<'c>,
    /// What is wrong in the events that have just been added.
    pub(crate) bugs: Vec<Bug>,
    /// How sequences are looked for.
    pub(crate) heuristics: Heuristics,
    witness: Witness,
    /// Looks for data races, if they are of interest.
    races: Option<Races>,
}

impl<'c> Shell<'c> {
    /// With arrivals at barriers that have no order, if `meetings` says so.
    pub(crate) fn new(
        engine: &'static str,
        question: engine::Question<'c>,
        deadline: &'c Deadline<'c>,
        meetings: bool,
    ) -> Self {
        Shell::with(Frontier::new(question.code, question.options, meetings), engine, question, deadline)
    }

    /// With events that are there already.
    pub(crate) fn with(
        frontier: Frontier<'c>,
        engine: &'static str,
        question: engine::Question<'c>,
        deadline: &'c Deadline<'c>,
    ) -> Self {
        let options = question.options;
        let report = Report::new(engine, question, deadline);
        Shell {
            options,
            depth: options.limits.depth(),
            frontier,
            bugs: Vec::new(),
            heuristics: Heuristics::default(),
            witness: Witness::default(),
            races: question.looks_for_races().then(Races::default),
            report,
        }
    }

    /// Runs the threads to their next reads and choices. The events go to the end of `sequence`.
    pub(crate) fn extend(&mut self, sequence: &mut Vec<EventId>) -> Result<Extended, Stop> {
        self.frontier.extend(sequence, &mut self.bugs, self.depth)
    }

    /// Looks whether the last event of a thread was wrong. It is the last of a sequence of this length.
    pub(crate) fn added(&mut self, thread: ThreadId, length: usize) {
        self.frontier.failed(thread, length, &mut self.bugs);
    }

    /// A sequence of the events, and of the new read if there is one, in which all reads read from their sources.
    pub(crate) fn find(
        &mut self,
        sequence: &[EventId],
        question: Question<'_>,
    ) -> Result<Option<Vec<EventId>>, Interrupted> {
        let Shell { frontier, report, heuristics, witness, .. } = self;
        let alarm = report.alarm();
        witness.find(frontier, sequence, question, *heuristics, &mut report.counters, alarm)
    }

    /// Looks for races in all sequences of the events.
    pub(crate) fn check_races(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        let Shell { frontier, report, heuristics, witness, races, .. } = self;
        let Some(races) = races else { return Ok(()) };
        let (alarm, counters) = (report.alarm(), &mut report.counters);
        let race = races.find(frontier, sequence, |sources| {
            witness.find(frontier, sequence, Question::Sources(sources), *heuristics, counters, alarm)
        })?;
        race.map_or(Ok(()), |race| self.race(&race))
    }

    /// Looks for a race in this sequence of all events.
    pub(crate) fn check_races_of(&mut self, sequence: &[EventId]) -> Result<(), Stop> {
        match self.races.as_mut().and_then(|races| races.of_all(&self.frontier, sequence)) {
            Some(race) => self.race(&race),
            None => Ok(()),
        }
    }

    /// Reports a race. The sequence that has it is no run of the machine if a thread goes on in it behind an access that comes after the end of its object: then that
    /// is what is wrong.
    fn race(&mut self, race: &Race) -> Result<(), Stop> {
        let Some(late) = lives::late_access(&self.frontier, &race.sequence) else {
            return Ok(self.report.race(&self.frontier, race)?);
        };
        if self.options.all || !self.looks_for(Some(Property::Memory)) {
            let engine = self.report.engine;
            let message = format!(
                "the engine `{engine}` does not handle a data race behind an access that may come after the end of its object; use --engine optimal"
            );
            return Err(self.refusal(late.pc, message));
        }
        Ok(self.report.bug(&late, || self.frontier.schedule(&race.sequence[..late.at]))?)
    }

    /// Reports what goes wrong at the end of a sequence, or the race that comes before.
    pub(crate) fn show(&mut self, bug: &Bug, sequence: &[EventId]) -> Result<(), Stop> {
        if bug.property.is_some_and(|property| self.report.wants(property, bug.pc))
            && let Some(race) = self.races.as_mut().and_then(|races| races.first(&self.frontier, sequence))
        {
            return self.race(&race);
        }
        Ok(self.report.bug(bug, || self.frontier.schedule(sequence))?)
    }

    /// Counts an execution. Returns the deadlock that it ends in, if it does.
    pub(crate) fn count(&mut self, end: &End, sequence: &[EventId]) -> Option<Bug> {
        let deadlock = self.report.count(end);
        if self.options.keep_schedules {
            self.report.schedules.push(self.frontier.schedule(sequence));
        }
        let (property, at) = (Some(Property::Deadlock), sequence.len());
        deadlock.map(|pc| Bug { property, message: String::new(), pc, at, either: false })
    }

    /// An execution goes on for too long.
    pub(crate) fn cut(&mut self) {
        let busiest = self.frontier.ids().max_by_key(|&thread| self.frontier.events(thread).len());
        let pc = busiest.and_then(|thread| self.frontier.state(thread)).map(|state| state.pc());
        self.report.cut(pc);
    }

    /// Whether a property is looked for.
    pub(crate) fn looks_for(&self, property: Option<Property>) -> bool {
        property.is_some_and(|property| self.options.properties.contains(property))
    }

    /// What an engine cannot do.
    pub(crate) fn refusal(&self, pc: u32, message: impl Into<String>) -> Stop {
        Refusal::at(self.frontier.world.code, pc, message.into()).into()
    }
}

/// A search, step by step.
pub(crate) trait Walk<'c>: Sized {
    /// How many steps are done between two looks at the clock.
    const PATIENCE: u32;

    fn shell(&mut self) -> &mut Shell<'c>;

    /// Enters the first node.
    fn begin(&mut self) -> Result<(), Stop>;

    /// Tries the next option of the innermost node, or leaves it. Returns `false` when nothing is left.
    fn advance(&mut self) -> Result<bool, Stop>;

    /// Whether anything is left to try.
    fn has_more(&self) -> bool;

    /// Whether a limit on executions has been reached, so that it is time to look what is left.
    fn is_full(&mut self) -> bool {
        self.shell().report.is_full()
    }
}

/// Explores with arrivals at barriers that have no order, and where that may matter once more with such that have one. The flag says whether they have none.
pub(crate) fn meeting(
    question: engine::Question<'_>,
    deadline: &Deadline<'_>,
    explore: impl Fn(bool) -> Result<Outcome, Stop>,
) -> Result<Outcome, Fault> {
    let contested = match explore(question.code.has_barriers()) {
        Err(Stop::Contested(pc)) => pc,
        ended => return ended.map_err(Stop::fault),
    };
    deadline.control().restart();
    let mut outcome = explore(false).map_err(Stop::fault)?;
    outcome.notes.push(arrivals_told_apart(&question.code.place(contested)));
    Ok(outcome)
}

/// Explores everything, or until something stops it.
pub(crate) fn run<'c>(mut search: impl Walk<'c>) -> Result<Outcome, Stop> {
    let walked = walk(&mut search);
    search.shell().report.finish(walked)
}

fn walk<'c, W: Walk<'c>>(search: &mut W) -> Result<(), Stop> {
    search.begin()?;
    let mut patience = W::PATIENCE;
    while !search.shell().report.stopped() && search.advance()? {
        patience -= 1;
        if patience == 0 || search.is_full() {
            patience = W::PATIENCE;
            let more = search.has_more();
            search.shell().report.look_around(more);
        }
    }
    Ok(())
}
