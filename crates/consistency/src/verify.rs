//! The answer: closure, search, and the replay that every witness has to survive.

use crate::causal::conflict::Conflict;
use crate::causal::{self, Found};
use crate::closure::{ClosureOrder, Failure};
use crate::instance::{Instance, Malformed};
use crate::interrupt::Interrupted;
use crate::models::{self, Axioms, Task};
use crate::naive::Naive;
use crate::order::Order;
use crate::prefix::{Move, Prefix};
use crate::realise::{Clauses, Realiser};
use crate::replay::replay;
use crate::search::{End, Search};
use crate::settings::{Algorithm, Closure, Limits, Settings};
use crate::shape::{self, NONE, Shape};
use crate::values::{self, Op, Problem};
use raddle_trace::{Model, Step, ThreadId};

/// Whether there is an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is one: this schedule runs it. Under PSO a flush names the location by its number.
    Consistent(Vec<Step>),
    /// There is none.
    Inconsistent,
    /// A limit was reached.
    Unknown,
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Prefixes that a search looked at.
    pub prefixes: u64,
    /// Closure was computed.
    pub closed: bool,
    /// Closure found a cycle.
    pub cyclic: bool,
}

/// Answers, with memory that is used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Verifier {
    shape: Shape,
    prefix: Prefix,
    search: Search,
    closure: ClosureOrder,
    statistics: Statistics,
}

/// Is there an execution of this shape under the model?
pub fn verify(instance: &Instance, model: Model, settings: &Settings<'_>) -> Result<Answer, Malformed> {
    Verifier::new().verify(instance, model, settings)
}

impl Verifier {
    /// A verifier.
    pub fn new() -> Self {
        Verifier::default()
    }

    /// What the last answer cost.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Is there an execution of this shape under the model?
    ///
    /// # Panics
    /// If a witness does not replay, which would be a mistake in this crate.
    pub fn verify(&mut self, instance: &Instance, model: Model, settings: &Settings<'_>) -> Result<Answer, Malformed> {
        instance.validate()?;
        self.statistics = Statistics::default();
        if let Some(axioms) = models::axioms(model) {
            return self.verify_axioms(instance, axioms, &settings.limits);
        }
        if self.shape.build(instance, model).is_err() {
            return Ok(Answer::Inconsistent);
        }
        Ok(match self.decide(settings) {
            End::Exhausted => Answer::Inconsistent,
            End::Stopped => Answer::Unknown,
            End::Found => {
                let witness = self.witness(instance);
                if let Err(misfit) = replay(instance, model, &witness) {
                    panic!("a witness under {model} does not replay: {misfit}\n{instance:?}\n{witness:?}");
                }
                Answer::Consistent(witness)
            }
        })
    }

    /// The same for a model that is given by axioms.
    fn verify_axioms(
        &mut self,
        instance: &Instance,
        axioms: &dyn Axioms,
        limits: &Limits<'_>,
    ) -> Result<Answer, Malformed> {
        self.statistics.closed = true;
        Ok(match causal::decide(instance, axioms, limits, &mut self.statistics.prefixes)? {
            Found::Stopped => Answer::Unknown,
            Found::Conflict(conflict) => {
                self.statistics.cyclic = matches!(conflict, Conflict::Cycle(_));
                Answer::Inconsistent
            }
            Found::Schedule(witness) => {
                if let Err(wrong) = causal::judge(instance, axioms, &witness) {
                    panic!("a witness does not replay: {wrong}\n{instance:?}\n{witness:?}");
                }
                Answer::Consistent(witness)
            }
        })
    }

    fn decide(&mut self, settings: &Settings<'_>) -> End {
        let closure = if Order::bytes(&self.shape) > settings.limits.bytes { Closure::Off } else { settings.closure };
        match closure {
            Closure::Off => return self.search(settings, false, &settings.limits),
            Closure::First => {}
            Closure::After(prefixes) => {
                let limits = Limits { prefixes: prefixes.min(settings.limits.prefixes), ..settings.limits };
                let end = self.search(settings, false, &limits);
                if end != End::Stopped || self.statistics.prefixes <= prefixes {
                    return end;
                }
            }
        }
        self.statistics.closed = true;
        match self.closure.build(&self.shape, settings.limits.interrupt) {
            Ok(()) => self.search_closed(settings),
            Err(Failure::Late) => End::Stopped,
            Err(Failure::Cyclic) => {
                self.statistics.cyclic = true;
                End::Exhausted
            }
        }
    }

    /// The search under the closure. Under SC it may be interrupted for a look at the clauses.
    fn search_closed(&mut self, settings: &Settings<'_>) -> End {
        if let (Some(prefixes), true, Algorithm::Model) =
            (settings.clauses, self.shape.model.has_clauses(), settings.algorithm)
        {
            let pause = self.statistics.prefixes.saturating_add(prefixes);
            let limits = Limits { prefixes: pause.min(settings.limits.prefixes), ..settings.limits };
            let end = self.search(settings, true, &limits);
            if end != End::Stopped || self.statistics.prefixes <= pause {
                return end;
            }
            let (problem, sequence) = (problem(&self.shape), self.closure.order.sequence());
            match Realiser::default().by_clauses(&problem, &sequence, settings.limits.interrupt) {
                Err(Interrupted) => return End::Stopped,
                Ok(Clauses::Unsatisfiable) => return End::Exhausted,
                Ok(Clauses::Undecided) => {}
                Ok(Clauses::Ordered(sequence)) => {
                    self.prefix.reset(&self.shape);
                    let steps = sequence.into_iter().map(|op| Move::Step(self.shape.op(op).thread));
                    steps.for_each(|step| self.prefix.apply(&self.shape, step));
                    return End::Found;
                }
            }
        }
        self.search(settings, true, &settings.limits)
    }

    fn search(&mut self, settings: &Settings<'_>, closed: bool, limits: &Limits<'_>) -> End {
        let Verifier { shape, prefix, search, closure, statistics } = self;
        let order = closed.then_some(&closure.order);
        let visited = &mut statistics.prefixes;
        match settings.algorithm {
            Algorithm::Naive => search.run(shape, prefix, &Naive { order }, settings.order, limits, visited),
            Algorithm::Model => {
                let model = shape.model;
                model.search(Task { shape, prefix, search, order, settings, limits, visited })
            }
        }
    }

    /// The moves as a schedule of events and flushes.
    fn witness(&self, instance: &Instance) -> Vec<Step> {
        let shape = &self.shape;
        let mut at = shape.starts.clone();
        let steps = self.prefix.log.iter().filter_map(|&what| match what {
            Move::Step(thread) => {
                let op = shape.op(at[thread as usize]);
                at[thread as usize] += 1;
                (op.event != NONE).then_some(Step::Run(ThreadId(thread)))
            }
            Move::Flush(lane) => {
                let write = shape.lane(lane as usize)[0];
                let thread = ThreadId(shape.op(write).thread);
                let event = shape.event(instance, write).expect("a write is an event");
                let loc = instance.get(event).and_then(|action| action.loc()).expect("a write has a location");
                Some(shape.model.arrival(thread, loc.0.into()))
            }
        });
        steps.collect()
    }
}

/// A shape under SC, as a problem about sequences.
fn problem(shape: &Shape) -> Problem {
    let mut problem = Problem::default();
    problem.clear();
    let end = |child: usize| {
        let last = (shape.length(child) > 0).then(|| shape.starts[child + 1] - 1);
        last.or_else(|| Some(shape.spawns[child]).filter(|&spawn| spawn != NONE))
    };
    for thread in 0..shape.threads() {
        for number in shape.starts[thread]..shape.starts[thread + 1] {
            let op = shape.op(number);
            let (reads, writes) = (op.source != NONE, op.lane != NONE);
            let loc = if reads || writes { op.loc } else { values::NONE };
            let mut good = (0, 0);
            if reads {
                good = (problem.good.len() as u32, problem.good.len() as u32 + 1);
                problem.good.push(if shape.is_initial(op.source) { values::INIT } else { op.source });
            }
            let after = if op.kind == shape::Kind::Join { end(op.loc as usize) } else { None };
            problem.push(Op { loc, reads, writes, after: after.unwrap_or(values::NONE), good });
        }
        problem.end_thread();
        if shape.spawns[thread] != NONE && shape.length(thread) > 0 {
            problem.edges.push((shape.spawns[thread], shape.starts[thread]));
        }
    }
    problem
}
