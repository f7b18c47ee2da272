//! The engines `rvf` and `vc` as subjects, and what holds for engines that tell executions apart by reads-from or by values.
//!
//! Such an engine reports a schedule of each execution. By values it may report fewer executions than there are classes:
//! at most one per class, and at least one for every way to give values to the events. That also means that no state
//! of any thread is lost. By reads-from it reports exactly one per class.

use crate::brute::{self, Behaviours, End};
use crate::class::{Class, Leaves, ValueClass};
use crate::compare::{Equivalence, MetAs, Subject, Unordered, has_loops, may_forget, with_switches};
use crate::sketch::{Sketch, Stmt};
use raddle_explore::rvf::ReadsValueFrom;
use raddle_machine::Code;
use raddle_trace::{Model, Schedule};
use rustc_hash::FxHashSet;

/// The engine `rvf`, telling writes of the same value apart.
pub fn variants() -> Vec<Subject> {
    vec![with_switches("rvf by source", Equivalence::ReadsFrom, &ReadsValueFrom, &["classes=sources"])]
}

/// Restricts a subject to what `rvf` takes.
pub fn restricted(subject: Subject) -> Subject {
    let applies =
        |sketch: &Sketch, model: Model| model == Model::Sc && !sketch.any(|stmt| matches!(stmt, Stmt::Atomic(_)));
    Subject { every_end: true, applies: Box::new(applies), ..subject }
}

/// What is wrong with the schedules that an engine reports.
pub(crate) fn compare_schedules(
    sketch: &Sketch,
    code: &Code,
    (equivalence, Unordered { arrivals, .. }): (Equivalence, Unordered),
    (brute, known_as): (&Behaviours, MetAs),
    schedules: &[Schedule],
) -> Vec<String> {
    let mut differences = Vec::new();
    let forgotten = may_forget(sketch);
    let loops = has_loops(sketch);
    let mut met_sources: FxHashSet<Class> = FxHashSet::default();
    let mut met_values: FxHashSet<(ValueClass, Option<Leaves>)> = FxHashSet::default();
    let mut met: [FxHashSet<ValueClass>; 4] = Default::default();
    let mut met_from: [FxHashSet<Class>; 4] = Default::default();
    let kinds = [&brute.complete, &brute.blocked, &brute.failed, &brute.bounded];
    let met_as = |class: Class| if arrivals { class.meetings() } else { class };
    let traces = kinds.map(|classes| classes.traces.iter().cloned().map(met_as).collect::<FxHashSet<Class>>());
    let sources = traces.each_ref().map(|traces| traces.iter().map(Class::reads_from).collect::<FxHashSet<Class>>());
    let values = kinds.map(|classes| if arrivals { &classes.meetings_by_values } else { &classes.reads_value_from });
    for schedule in schedules {
        let (end, class, found) = match brute::classify_values(code, Model::Sc, schedule) {
            Ok(found) => found,
            Err(error) => {
                differences.push(format!("the schedule `{schedule}`: {error}"));
                continue;
            }
        };
        let class = known_as(&class);
        let kind = match end {
            End::Complete => 0,
            End::Blocked => 1,
            End::Failed => 2,
            End::Bounded => 3,
            End::Moot => {
                differences.push(format!("a thread only has not looked again after the schedule `{schedule}`"));
                continue;
            }
        };
        let by_values = if arrivals { class.meetings_by_values(&found) } else { class.reads_value_from(&found) };
        let class = met_as(class);
        let (known, again) = match equivalence {
            Equivalence::ReadsValueFrom | Equivalence::ValueCentric => {
                met[kind].insert(by_values.values());
                let leaves = (equivalence == Equivalence::ValueCentric).then(|| class.leaves());
                (values[kind].contains(&by_values), !met_values.insert((by_values, leaves)))
            }
            Equivalence::ReadsFrom => {
                let class = class.reads_from();
                met_from[kind].insert(class.clone());
                (sources[kind].contains(&class), !met_sources.insert(class))
            }
            Equivalence::Traces | Equivalence::Refined | Equivalence::States | Equivalence::Delegated => {
                met_from[kind].insert(class.reads_from());
                (traces[kind].contains(&class), !met_sources.insert(class))
            }
        };
        if !(known || loops && end == End::Blocked) {
            differences.push(format!("no run of brute force is like the schedule `{schedule}`"));
        }
        if again && !(forgotten && end != End::Complete) {
            differences.push(format!("the class of the schedule `{schedule}` is met twice"));
        }
    }
    let by_values = matches!(equivalence, Equivalence::ReadsValueFrom | Equivalence::ValueCentric);
    for (kind, name) in ["complete", "blocked", "failed", "bounded"].into_iter().enumerate() {
        let all: FxHashSet<ValueClass> = values[kind].iter().map(ValueClass::values).collect();
        // Those that turn for ever are only counted.
        let counted = loops && name == "blocked";
        let lost = if counted { all.len().saturating_sub(met[kind].len()) } else { all.difference(&met[kind]).count() };
        if lost > 0 && by_values {
            differences.push(format!("values of events, {name}: {} by brute force, {lost} of them lost", all.len()));
        }
        let all = &sources[kind];
        let met = &met_from[kind];
        let lost = if counted { all.len().saturating_sub(met.len()) } else { all.difference(met).count() };
        if lost > 0 && !by_values {
            differences
                .push(format!("classes by reads-from, {name}: {} by brute force, {lost} of them lost", all.len()));
        }
    }
    differences
}
