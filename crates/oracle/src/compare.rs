//! Engines held against brute force.
//!
//! An engine is a [`Subject`]: what it is called, by which equivalence it counts, which programs it takes, and how it is
//! run. [`subjects`] lists those of the product; a new engine is one entry there. [`compare`] runs a subject and brute force on
//! one program under one model and says in which numbers they differ.
//!
//! What is compared: complete, blocked and bounded classes, deadlocks and failures by property and line, and, where
//! every failure is decided by what the failing thread has seen, the failed classes. A failure that depends on the
//! order of events which no class records (an access beside the end of an object's life) can be met at either of the two
//! events; there only the property is compared, and not the numbers. The same holds for races, which are looked for in a
//! run of their own. Of two threads that join the same one the second is in error, and an engine that looks at one order and says so is
//! held to that error and to finding nothing that is not there.

use crate::brute::{self, Behaviours, Budget, Classes, End, TooLarge};
use crate::class::{Class, Commuting};
use crate::data_centric;
use crate::shrink::shrink;
use crate::sketch::{Kind, Sketch, Stmt};
use crate::{states, symbolic, values, variants};
use raddle::ENGINES;
pub use raddle_engine::Equivalence;
use raddle_engine::{Control, Deadline, Engine, Fault, Finding, Options, Outcome, PropertySet, Question, StopReason};
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_machine::{Code, compile};
use raddle_program::analysis::{decide_branches, drop_unused_results, transform};
use raddle_trace::{Model, Property, Schedule};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Which orders make no classes of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unordered {
    /// Those of updates whose results nobody uses.
    pub updates: bool,
    /// Those of arrivals at barriers.
    pub arrivals: bool,
}

/// How many classes there are, or at least how many.
pub fn count(equivalence: Equivalence, classes: &Classes, unordered: Unordered) -> u64 {
    (match equivalence {
        _ if unordered != Unordered::default() => {
            classes.traces.iter().map(|class| class_by(equivalence, unordered, class)).collect::<FxHashSet<_>>().len()
        }
        Equivalence::Traces => classes.traces.len(),
        Equivalence::ReadsFrom | Equivalence::Refined => classes.reads_from.len(),
        // The classes are not enumerated; there are at least as many.
        Equivalence::ReadsValueFrom | Equivalence::ValueCentric | Equivalence::States | Equivalence::Delegated => {
            classes.reads_value_from.len()
        }
    }) as u64
}

/// The class without the orders that make none.
fn class_by(equivalence: Equivalence, unordered: Unordered, class: &Class) -> Commuting {
    let class = if unordered.arrivals { class.meetings() } else { class.clone() };
    let class = if unordered.updates { class.commuting() } else { Commuting::none(class) };
    if equivalence == Equivalence::Traces { class } else { class.reads_from() }
}

/// What an engine counted and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Complete executions.
    pub executions: u64,
    /// Blocked ones.
    pub blocked: u64,
    /// Failed ones.
    pub failed: u64,
    /// Those cut off at a loop bound.
    pub bounded: u64,
    /// Executions of classes that had been met; an engine that does not claim to have none leaves this 0.
    pub redundant: u64,
    /// What went wrong, and on which line.
    pub failures: BTreeSet<(Property, u32)>,
    /// What the engine says beside.
    pub notes: Vec<String>,
    /// Which orders do not tell classes apart.
    pub unordered: Unordered,
    /// If the engine reports them: a schedule of each execution, complete or blocked.
    pub schedules: Option<Vec<Schedule>>,
}

/// Why an engine did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not handle what the program uses.
    Unsupported(String),
    /// It contradicts itself or the machine.
    Broken(String),
}

type Applies = Box<dyn Fn(&Sketch, Model) -> bool + Send + Sync>;
type Run = Box<dyn Fn(&Code, Model, bool) -> Result<Counts, Refusal> + Send + Sync>;

/// An engine to be held against brute force.
pub struct Subject {
    /// Its name.
    pub name: String,
    /// By what it tells executions apart.
    pub equivalence: Equivalence,
    /// Under which models it looks for data races.
    pub races: fn(Model) -> bool,
    /// Whether it reports schedules of failed and bounded executions, too.
    pub every_end: bool,
    /// Whether it takes the program under the model.
    pub applies: Applies,
    /// The program as the engine gets it, if not as brute force does. Its schedules then mean nothing to brute force.
    pub code: Option<fn(&Sketch) -> Code>,
    /// Runs it; the flag asks for data races.
    pub run: Run,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Subject {
    /// Runs the engine; a panic is an answer, too.
    fn answer(&self, code: &Code, model: Model, races: bool) -> Result<Counts, Refusal> {
        catch_unwind(AssertUnwindSafe(|| (self.run)(code, model, races))).unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(Refusal::Broken(format!("{} panics: {text}", self.name)))
        })
    }

    /// The same, which takes only such programs and models.
    #[must_use]
    pub fn only(self, is: impl Fn(&Sketch, Model) -> bool + Send + Sync + 'static) -> Subject {
        let applies = self.applies;
        Subject { applies: Box::new(move |sketch, model| applies(sketch, model) && is(sketch, model)), ..self }
    }

    /// The same, which takes no program with such a statement.
    #[must_use]
    pub fn without(self, is: fn(&Stmt) -> bool) -> Subject {
        self.only(move |sketch, _| !sketch.any(is))
    }
}

/// Statements that read and write in one step and are neither locks of a mutex nor arrivals at a barrier.
fn updates(stmt: &Stmt) -> bool {
    use Stmt::{Broadcast, Cas, CasWait, CondWait, Idle, ReadLock, Rmw, RwUnlock, SemPost, SemTry, SemWait};
    use Stmt::{Signal, TryRwLock, WriteLock};
    matches!(
        stmt,
        Rmw(..)
            | Cas(..)
            | CasWait(..)
            | Idle(..)
            | ReadLock(_)
            | WriteLock(_)
            | TryRwLock(..)
            | RwUnlock(_)
            | SemWait(_)
            | SemTry(..)
            | SemPost(_)
            | CondWait(..)
            | Signal(_)
            | Broadcast(_)
    )
}

/// The engines of the product, and their variants.
pub fn subjects() -> Vec<Subject> {
    let own = ENGINES.iter().filter(|engine| engine.equivalence() != Equivalence::Delegated);
    let own = own.map(explorer);
    let commuting =
        ENGINES.iter().filter(|engine| ["optimal", "rf"].contains(&engine.name())).map(with_commuting_updates);
    let variants = commuting.chain(variants::prepared()).chain(values::variants()).chain(data_centric::variants());
    own.chain(variants).chain(states::variants()).chain(symbolic::variants()).collect()
}

/// An engine on graphs that does not tell executions apart by the order of updates whose results nobody uses.
fn with_commuting_updates(engine: &'static dyn Engine) -> Subject {
    let name = format!("{} commuting", engine.name());
    let subject = with_options(&name, engine, |options| options.commuting_updates = true);
    let subject =
        subject.only(|_, model| !Model::AXIOMATIC.contains(&model)).without(|stmt| matches!(stmt, Stmt::Post(..)));
    let run = subject.run;
    let run = move |code: &_, model, races| {
        let counts = run(code, model, races)?;
        // Where it does not make use of that, it says so.
        let updates = !counts.notes.iter().any(|note| note.contains("commute"));
        Ok(Counts { unordered: Unordered { updates, ..counts.unordered }, ..counts })
    };
    Subject { run: Box::new(run), ..subject }
}

/// An engine of the product as it is.
pub fn explorer(engine: &'static dyn Engine) -> Subject {
    with_switches(engine.name(), engine.equivalence(), engine, &[])
}

/// An engine of the product with some of its switches set.
pub fn with_switches(
    name: &str,
    equivalence: Equivalence,
    engine: &'static dyn Engine,
    switches: &'static [&'static str],
) -> Subject {
    let subject = with_options(name, engine, move |options| {
        for switch in switches {
            options.switches.set(engine, switch).expect("a switch of the engine");
        }
    });
    Subject { equivalence, ..subject }
}

/// An engine of the product with other options.
pub fn with_options(
    name: &str,
    engine: &'static dyn Engine,
    set: impl Fn(&mut Options) + Send + Sync + 'static,
) -> Subject {
    let mut subject = explorer_by(name, engine.equivalence(), move |question, deadline| {
        let mut options = question.options.clone();
        set(&mut options);
        if SEQUENCES.contains(&engine.name()) && options.properties.contains(Property::Race) {
            // They do not go on after a race, so they should end at as little else as possible.
            options.all = false;
            options.properties = [Property::Race, Property::Memory, Property::Lock].into_iter().collect();
        }
        let question = Question { options: &options, ..*question };
        engine.takes(&question)?;
        engine.run(&question, deadline)
    });
    if SEQUENCES.contains(&engine.name()) {
        subject = values::restricted(subject);
    }
    let subject = subject.only(move |sketch, model| knows(engine, sketch, model));
    match engine.name() {
        "oc" => symbolic::restricted(subject),
        "cegar" => symbolic::abstracted(subject).without(|stmt| matches!(stmt, Stmt::Move(..))),
        "rf" => subject.without(|stmt| matches!(stmt, Stmt::Atomic(_))),
        "lazy-tso" => Subject { races: |_| false, ..subject },
        // By values it cannot tell whether an access comes before the end of its object.
        "vc" => {
            let subject = subject.without(|stmt| updates(stmt) || matches!(stmt, Stmt::Free(_)));
            // Where the order of arrivals at a barrier matters, they are updates.
            subject.only(|sketch, _| !is_contested(sketch))
        }
        _ => subject,
    }
}

/// Whether an engine knows the model, and takes what is in the program under it.
fn knows(engine: &dyn Engine, sketch: &Sketch, model: Model) -> bool {
    let foreign = |stmt: &Stmt| match stmt {
        Stmt::Atomic(_) => true,
        Stmt::Spin(..) | Stmt::Loop(_) => model == Model::Wra,
        _ => false,
    };
    if sketch.any(|stmt| matches!(stmt, Stmt::Post(..))) {
        let atomic = sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_)));
        return match engine.name() {
            "explicit" => Model::OPERATIONAL.contains(&model),
            "optimal" | "rf" => model == Model::Sc && !atomic,
            _ => false,
        };
    }
    if ["lazy-tso", "abstract-tso"].contains(&engine.name()) {
        return model == Model::Tso;
    }
    !Model::AXIOMATIC.contains(&model) || (GRAPHS.contains(&engine.name()) && !sketch.any(foreign))
}

/// Whether more threads may come to a barrier than it is for.
fn is_contested(sketch: &Sketch) -> bool {
    let is_small = |kind: &Kind| matches!(kind, Kind::Barrier(count) if sketch.threads.len() > *count as usize);
    sketch.objects.iter().any(|object| is_small(&object.kind))
}

/// The engines on graphs.
const GRAPHS: [&str; 2] = ["optimal", "rf"];

/// Whether an engine says that the order of arrivals at a barrier matters.
fn is_crowded(notes: &[String]) -> bool {
    notes.iter().any(|note| note.contains("barriers"))
}

/// The engines on sequences: they keep a schedule of every end, and end at the first race.
const SEQUENCES: [&str; 3] = ["rvf", "vc", "dc"];

/// Whoever answers questions like an engine.
pub fn explorer_by(
    name: &str,
    equivalence: Equivalence,
    run: impl Fn(&Question<'_>, &Deadline<'_>) -> Result<Outcome, Fault> + Send + Sync + 'static,
) -> Subject {
    Subject {
        name: name.into(),
        equivalence,
        races: |_| true,
        every_end: false,
        applies: Box::new(|_, _| true),
        code: None,
        run: Box::new(move |code, model, races| {
            let mut options = Options::new(model);
            options.all = true;
            // No program that brute force manages comes near these, on however slow a machine: an engine that reaches them
            // does not end.
            options.limits.executions = Some(500_000);
            options.limits.time = Some(Duration::from_secs(3_600));
            options.keep_schedules = !races;
            if !races {
                options.properties = PropertySet::all().without(Property::Race);
            }
            let control = Control::new();
            let question = Question { code, options: &options };
            let outcome = run(&question, &Deadline::new(options.limits, &control)).map_err(|fault| match fault {
                Fault::Refused(refusal) => Refusal::Unsupported(refusal.message),
                fault => Refusal::Broken(fault.to_string()),
            })?;
            if let Some(stop) =
                outcome.stop.filter(|stop| !matches!(stop, StopReason::Disregarded { .. } | StopReason::Races { .. }))
            {
                return Err(Refusal::Broken(format!("the exploration did not end: {stop}")));
            }
            let statistics = outcome.statistics;
            let failures = outcome.findings.iter().map(Finding::violation);
            let arrivals = code.has_barriers() && !code.has_atomic_blocks() && !is_crowded(&outcome.notes);
            Ok(Counts {
                executions: statistics.executions,
                blocked: statistics.blocked,
                failed: statistics.failed,
                bounded: statistics.bounded,
                redundant: statistics.redundant.unwrap_or(0),
                failures: failures.map(|violation| (violation.property, violation.place.line)).collect(),
                notes: outcome.notes,
                unordered: Unordered { updates: false, arrivals },
                schedules: (!races).then_some(outcome.schedules),
            })
        }),
    }
}

/// What was compared and is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Classes of all kinds.
    pub classes: u64,
    /// Whether data races were looked for, too.
    pub races: bool,
}

/// How a comparison ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same.
    Agree(Agreed),
    /// Too large for brute force, or more classes than are worth it.
    TooLarge,
    /// The engine does not take this program.
    Refused(String),
    /// Different; what differs, one line each.
    Disagree(Vec<String>),
}

/// How much brute force may do for one comparison.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// States of the machine.
    pub states: usize,
    /// Classes of all kinds.
    pub classes: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { states: 20_000, classes: 2_000 }
    }
}

/// The program of a sketch, compiled as it stands: nothing in it is private to a thread, loops are as they were written. This is what brute
/// force runs. Only which updates nobody looks at is known, for that is part of a class.
pub fn code(sketch: &Sketch) -> Code {
    let mut program = sketch.program();
    drop_unused_results(&mut program);
    compile(&program, &AllShared, &CompileOptions::default())
}

/// The same without branches that are never taken, and so without what they look at.
fn decided(sketch: &Sketch) -> Code {
    let mut program = sketch.program();
    decide_branches(&mut program);
    drop_unused_results(&mut program);
    compile(&program, &AllShared, &CompileOptions::default())
}

/// The program of a sketch with all that makes exploration cheaper. This is what engines run.
pub fn prepared(sketch: &Sketch) -> Code {
    let mut program = sketch.program();
    transform(&mut program);
    compile(&program, &AllShared, &CompileOptions { early_assumptions: true, ..CompileOptions::default() })
}

/// Brute force on a program, without races and, if there are accesses that can race, with them.
pub struct Expected {
    /// Without races.
    pub plain: Behaviours,
    /// With races as failures.
    pub racing: Option<Behaviours>,
}

impl Expected {
    /// Runs brute force.
    ///
    /// # Errors
    /// If that is too much.
    pub fn of(code: &Code, model: Model, effort: Effort) -> Result<Expected, TooLarge> {
        let budget = Budget { states: effort.states, ..Budget::default() };
        let plain = brute::enumerate(code, model, budget)?;
        let classes = plain.traces() + plain.blocked.traces.len() + plain.failed.traces.len();
        if classes > effort.classes {
            return Err(TooLarge::States(effort.states));
        }
        let racing = code.may_race().then(|| brute::enumerate(code, model, Budget { races: true, ..budget }));
        Ok(Expected { plain, racing: racing.transpose()? })
    }
}

/// Runs the subject and brute force on a program.
pub fn compare(sketch: &Sketch, model: Model, subject: &Subject, effort: Effort) -> Comparison {
    if !(subject.applies)(sketch, model) {
        return Comparison::Refused("does not apply".into());
    }
    let code = code(sketch);
    match Expected::of(&code, model, effort) {
        Ok(expected) => compare_with(sketch, model, subject, &expected),
        Err(_) => Comparison::TooLarge,
    }
}

/// Whether an engine may refuse a program that it [takes](Subject::applies): only if an object or a lock is misused in some
/// run. What happens after that depends on more than what threads have seen.
fn is_excused(brute: &Behaviours) -> bool {
    brute.failures.iter().any(|failure| matches!(failure.property, Property::Memory | Property::Lock))
}

/// Runs the subject on a program that brute force has been run on.
pub fn compare_with(sketch: &Sketch, model: Model, subject: &Subject, expected: &Expected) -> Comparison {
    let code = &prepared(sketch);
    let mut differences = Vec::new();
    let own = subject.code.map(|own| own(sketch));
    let given = own.as_ref().unwrap_or(code);
    let found = match subject.answer(given, model, false) {
        Ok(found) => found,
        Err(Refusal::Unsupported(message)) if is_excused(&expected.plain) => return Comparison::Refused(message),
        Err(Refusal::Unsupported(message)) => {
            return Comparison::Disagree(vec![format!("{} should take this program: {message}", subject.name)]);
        }
        Err(Refusal::Broken(message)) => return Comparison::Disagree(vec![message]),
    };
    let brute = &expected.plain;
    // Where writes have no order, the only one there is is that of fences, and it is part of every class.
    let equivalence = if model == Model::Wra { Equivalence::Traces } else { subject.equivalence };
    let count = |classes: &Classes| count(equivalence, classes, found.unordered);
    // Whether a thread fails at an object that has ended depends on more than what it has seen.
    let ended = brute.failures.iter().any(|failure| failure.message.contains("life has ended"));
    let contested = found.notes.iter().any(|note| note.contains("depends on their order"))
        && brute.failures.iter().any(|failure| failure.property == Property::Lock);
    let ordered = !ended && !contested;
    let mut differ = |what: &str, brute: u64, engine: u64| {
        if brute != engine {
            differences.push(format!("{what}: {brute} by brute force, {engine} by {}", subject.name));
        }
    };
    // A thread that is stuck inside an atomic block stops everybody, wherever they happen to be; engines let the others
    // go on to their ends.
    let atomic = sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_)));
    let exact = matches!(subject.equivalence, Equivalence::Traces | Equivalence::ReadsFrom);
    if ordered && exact {
        differ("complete", count(&brute.complete), found.executions);
    }
    let met_once = !subject.every_end || !may_forget(sketch);
    // Where writes have no order, brute force does not say which loads an assumption could have had.
    let told = model != Model::Wra || !assumes(sketch);
    if ordered && !atomic && exact && met_once && told {
        differ("blocked", count(&brute.blocked), found.blocked);
        differ("failed", count(&brute.failed), found.failed);
        differ("bounded", count(&brute.bounded), found.bounded);
    }
    differ("redundant", 0, found.redundant);
    let expected_failures =
        failures(sketch, ended, brute.failures.iter().map(|failure| (failure.property, failure.line)));
    let found_failures = failures(sketch, ended, found.failures.iter().copied());
    let has = |wanted: Property| found_failures.iter().any(|&(property, _)| property == wanted);
    // A thread does not go on behind an end of life that may come too early, nor behind a lock that was misused, though in some runs it does.
    let right = if contested || ended {
        let told = contested && has(Property::Lock) || ended && has(Property::Memory);
        told && found_failures.is_subset(&expected_failures)
    } else {
        found_failures == expected_failures
    };
    if !right {
        differences.push(format!(
            "failures: {} by brute force, {} by {}",
            list(&expected_failures),
            list(&found_failures),
            subject.name
        ));
    }
    if is_crowded(&found.notes) && !brute.crowded {
        differences.push(format!("{} tells arrivals at a barrier apart that meet in one way only", subject.name));
    }
    if let Some(schedules) = found.schedules.as_ref().filter(|_| ordered && own.is_none()) {
        let differ = |brute: &Behaviours, met_as: MetAs| {
            let by = (equivalence, found.unordered);
            if subject.every_end {
                values::compare_schedules(sketch, code, by, (brute, met_as), schedules)
            } else {
                compare_schedules(sketch, (code, model), by, (brute, met_as), schedules)
            }
        };
        let mut different = differ(brute, Class::clone);
        if !different.is_empty() {
            // What engines run was simplified, and nobody may use a result there that somebody uses, by a branch that is never taken, in what brute force ran.
            different = if !found.unordered.updates {
                differ(&brute.with_results(), Class::with_results)
            } else if let Ok(decided) = brute::enumerate(&decided(sketch), model, Budget::default()) {
                differ(&decided, Class::clone)
            } else {
                different
            };
        }
        differences.extend(different);
    }
    let mut races = false;
    if let Some(racing) = expected.racing.as_ref().filter(|_| (subject.races)(model)) {
        let race = racing.failures.iter().any(|failure| failure.property == Property::Race);
        match subject.answer(given, model, true) {
            Ok(found) => {
                races = true;
                let engine = found.failures.iter().any(|&(property, _)| property == Property::Race);
                // A thread stops where it fails, so what it would race with behind is not met: on sequences whatever it fails by, on graphs at an object that
                // may have ended before.
                let failed = |property: Property| found.failures.iter().any(|&(other, _)| other == property);
                let stops =
                    if subject.every_end { !found.failures.is_empty() } else { ended && failed(Property::Memory) };
                let elsewhere = !engine && stops;
                if race != engine && !elsewhere {
                    let says = |race: bool| if race { "there is one" } else { "there is none" };
                    let name = &subject.name;
                    differences.push(format!("race: {} by brute force, {} by {name}", says(race), says(engine)));
                }
            }
            Err(Refusal::Unsupported(_)) if subject.equivalence == Equivalence::States && states::is_weak(sketch) => {}
            Err(Refusal::Unsupported(message) | Refusal::Broken(message)) => differences.push(message),
        }
    }
    if differences.is_empty() {
        let classes = [&brute.complete, &brute.blocked, &brute.failed, &brute.bounded];
        Comparison::Agree(Agreed { classes: classes.into_iter().map(count).sum(), races })
    } else {
        Comparison::Disagree(differences)
    }
}

/// The smallest program that can be found on which the subject differs from brute force in the same way, and how.
pub fn minimise(sketch: &Sketch, model: Model, subject: &Subject, effort: Effort) -> (Sketch, Vec<String>) {
    let differences = |sketch: &Sketch| match compare(sketch, model, subject, effort) {
        Comparison::Disagree(differences) => differences,
        _ => Vec::new(),
    };
    let mut smallest = differences(sketch);
    let kinds: BTreeSet<String> = smallest.iter().map(|difference| kind(difference)).collect();
    let small = shrink(sketch, |candidate| {
        let found = differences(candidate);
        let same = found.iter().any(|difference| kinds.contains(&kind(difference)));
        if same {
            smallest = found;
        }
        same
    });
    (small, smallest)
}

/// The first of the programs on which the subject is wrong, made small, and how; `None` if it is right on all of them.
///
/// # Panics
/// If most of the programs were too large or refused: then it is not right, but was not looked at.
pub fn first_mistake(
    subject: &Subject,
    model: Model,
    effort: Effort,
    programs: impl Iterator<Item = Sketch>,
) -> Option<String> {
    let (mut agreed, mut others) = (0, 0);
    for sketch in programs {
        match compare(&sketch, model, subject, effort) {
            Comparison::Agree(_) => agreed += 1,
            Comparison::TooLarge | Comparison::Refused(_) => others += 1,
            Comparison::Disagree(_) => {
                let (small, differences) = minimise(&sketch, model, subject, effort);
                return Some(format!("{small}{}", differences.join("\n")));
            }
        }
    }
    assert!(agreed > others, "{} was compared on {agreed} programs, and not on {others}", subject.name);
    None
}

/// A difference without its numbers and quotations.
fn kind(difference: &str) -> String {
    let unquoted: String = difference.split('`').step_by(2).collect();
    unquoted.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The class as which a class is known.
pub(crate) type MetAs = fn(&Class) -> Class;

/// What is wrong with the schedules an engine reports: they must be of exactly the classes there are, one each.
fn compare_schedules(
    sketch: &Sketch,
    (code, model): (&Code, Model),
    (equivalence, unordered): (Equivalence, Unordered),
    (brute, met_as): (&Behaviours, MetAs),
    schedules: &[Schedule],
) -> Vec<String> {
    let mut differences = Vec::new();
    let mut met: FxHashSet<Commuting> = FxHashSet::default();
    for schedule in schedules {
        match brute::classify(code, model, schedule) {
            Err(error) => differences.push(format!("the schedule {schedule}: {error}")),
            Ok((end @ (End::Complete | End::Blocked), class)) => {
                let class = met_as(&class);
                let known = if end == End::Complete { &brute.complete } else { &brute.blocked };
                let is_known = match equivalence {
                    Equivalence::Traces => known.traces.contains(&class),
                    _ => known.reads_from.contains(&class.reads_from()),
                };
                // Where writes have no order, engines do not know which loads are current, and forget none but the one that leads straight into the assumption.
                let again = model == Model::Wra && end == End::Blocked && assumes(sketch);
                if !(is_known || again || end == End::Blocked && has_loops(sketch)) {
                    differences.push(format!("no run of brute force is like the schedule {schedule}"));
                }
                if !met.insert(class_by(equivalence, unordered, &class)) && !again {
                    differences.push(format!("the class of the schedule {schedule} is met twice"));
                }
            }
            Ok(_) => {}
        }
    }
    differences
}

/// Whether threads may have read what is no part of a class: in turns of a loop without effect, or before an assumption stopped them. Engines on sequences
/// may meet the same class in several ways then.
pub(crate) fn may_forget(sketch: &Sketch) -> bool {
    assumes(sketch) || sketch.any(|stmt| matches!(stmt, Stmt::Spin(..) | Stmt::Loop(_)))
}

fn assumes(sketch: &Sketch) -> bool {
    sketch.any(|stmt| matches!(stmt, Stmt::Assume(_)))
}

/// Whether there are loops as they are written. A thread that turns in one for ever does so from some operation on, and which one begins a turn is a matter of
/// taste: to brute force any, to engines the head of the loop. So such ends are counted, and not compared one by one.
pub(crate) fn has_loops(sketch: &Sketch) -> bool {
    sketch.any(|stmt| matches!(stmt, Stmt::Loop(_)))
}

/// Failures as far as they are comparable: the line is dropped where it depends on how one run goes.
fn failures(sketch: &Sketch, ended: bool, all: impl Iterator<Item = (Property, u32)>) -> BTreeSet<(Property, u32)> {
    let atomic = sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_)));
    let loops = has_loops(sketch);
    all.filter(|&(property, _)| !(atomic && property == Property::Deadlock))
        .map(|(property, line)| match property {
            Property::Memory if ended => (property, 0),
            // The line is that of the first thread that waits, and where a loop stands after a turn is a matter of taste.
            Property::Deadlock if loops => (property, 0),
            _ => (property, line),
        })
        .collect()
}

fn list(failures: &BTreeSet<(Property, u32)>) -> String {
    if failures.is_empty() {
        return "none".into();
    }
    let words: Vec<_> = failures.iter().map(|(property, line)| format!("{property} in line {line}")).collect();
    words.join(", ")
}
