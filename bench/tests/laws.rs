//! What is known to be the same under different memory models is so on the programs of `bench/programs`, at the sizes at which they are measured.
//! `RADDLE_LAWS=20000 cargo test --release -p raddle-bench --test laws` takes larger ones.
//!
//! | orderings | law |
//! |---|---|
//! | all seq_cst | `rc11` has the executions of `sc` |
//! | all relaxed, a full fence after each access | `sra`, `ra` and `rc11` have the executions of `sc` |
//! | all release and acquire | `rc11` has the executions of `ra`; `sc`, `sra`, `ra` and, by sources, `wra` have no fewer each |

use raddle::program::{Inst, Op, Ordering};
use raddle::{Control, ENGINES, Limits, Model, Program, PropertySet, Scope, Settings, verify};
use raddle_bench::catalogue::{Entry, entries};

/// Programs that have more executions are left out, unless `RADDLE_LAWS` says another number.
const EXECUTIONS: u64 = 100;

fn most() -> u64 {
    let told = std::env::var("RADDLE_LAWS").ok();
    told.map_or(EXECUTIONS, |number| number.parse().expect("RADDLE_LAWS is a number of executions"))
}

/// The program with other orderings: those of loads, stores and updates, and maybe a full fence after each of them.
fn ordered(program: &Program, [load, store, update]: [Ordering; 3], fences: bool) -> Program {
    let mut program = program.clone();
    for block in program.functions.iter_mut().flat_map(|function| &mut function.blocks) {
        let mut insts = Vec::new();
        for mut inst in block.insts.drain(..) {
            let span = inst.span;
            let mut fence = fences;
            match &mut inst.op {
                Op::Load { order, .. } => *order = load,
                Op::Store { order, .. } => *order = store,
                Op::Rmw { order, .. } => *order = update,
                Op::Cas { success, failure, .. } => (*success, *failure) = (update, load),
                _ => fence = false,
            }
            insts.push(inst);
            insts.extend(fence.then_some(Inst { op: Op::Fence { order: Ordering::SeqCst }, span }));
        }
        block.insts = insts;
    }
    program
}

/// Complete and blocked executions; `None` if there are too many or the engine does not take the program.
fn counts(program: &Program, model: Model, engine: &str) -> Option<(u64, u64)> {
    let mut settings = Settings::new(model);
    settings.engine = ENGINES.find(engine).expect("it is there");
    settings.options.properties = PropertySet::none();
    settings.options.limits = Limits { executions: Some(most()), ..Limits::default() };
    let outcome = verify(program, &settings, &Control::new()).ok()?;
    let all = matches!(outcome.scope, Scope::AllExecutions);
    all.then_some((outcome.statistics.executions, outcome.statistics.blocked))
}

/// How many programs, with so many executions in all, obey a law.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    programs: usize,
    executions: u64,
}

fn same(entry: &Entry, what: &str, program: &Program, models: &[Model], held: &mut Held) {
    for engine in ["optimal", "rf"] {
        let found: Vec<_> = models.iter().map(|&model| counts(program, model, engine)).collect();
        let Some(first) = found[0] else { continue };
        for (model, found) in models.iter().zip(&found) {
            assert_eq!(*found, Some(first), "{}, {what}, under {model} by {engine}", entry.title(&entry.table));
        }
        held.programs += 1;
        held.executions += first.0;
    }
}

#[test]
fn laws_between_models() {
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let [mut strong, mut fenced, mut causal, mut weaker] = [Held::default(); 4];
    for entry in entries().expect("the programs are there") {
        let title = entry.title(&entry.table);
        let program = entry.load(&entry.table).unwrap_or_else(|error| panic!("{title}: {error}"));
        same(&entry, "all seq_cst", &ordered(&program, [SeqCst; 3], false), &[Model::Sc, Model::Rc11], &mut strong);
        let models = [Model::Sc, Model::Sra, Model::Ra, Model::Rc11];
        same(&entry, "fences everywhere", &ordered(&program, [Relaxed; 3], true), &models, &mut fenced);
        let acquiring = ordered(&program, [Acquire, Release, AcqRel], false);
        same(&entry, "all release and acquire", &acquiring, &[Model::Ra, Model::Rc11], &mut causal);
        let sources = [Model::Sc, Model::Sra, Model::Ra, Model::Wra].map(|model| counts(&acquiring, model, "rf"));
        if let [Some(sc), Some(sra), Some(ra), Some(wra)] = sources {
            assert!(sc.0 <= sra.0 && sra.0 <= ra.0 && ra.0 <= wra.0, "{title}: {sources:?}");
            weaker.programs += 1;
            weaker.executions += wra.0;
        }
    }
    println!("all seq_cst: {strong:?}; fences: {fenced:?}; release and acquire: {causal:?}; weaker: {weaker:?}");
    for (held, least) in [(strong, 20), (fenced, 20), (causal, 20), (weaker, 10)] {
        assert!(held.programs >= least, "only {held:?} of at least {least}");
    }
}
