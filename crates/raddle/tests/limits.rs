//! Limits end a run, whoever does the work, and the outcome says which one did.

use raddle::engine::{Deadline, Equivalence, Fault, Question, Reach, Refusal, Switch, confirm};
use raddle::machine::{Status, System};
use raddle::trace::Schedule;
use raddle::{
    Control, ENGINES, Engine, Limits, Model, Outcome, Program, Property, Settings, Statistics, StopReason, Verdict,
    verify,
};
use raddle_machine::Automaton;

fn program(text: &str) -> Program {
    raddle::program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(text: &str, engine: &str, set: impl Fn(&mut Settings)) -> Outcome {
    let engine = ENGINES.find(engine).expect("an engine");
    let mut settings = Settings { engine, ..Settings::new(known_model(engine)) };
    set(&mut settings);
    verify(&program(text), &settings, &Control::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// A model that the engine knows.
fn known_model(engine: &dyn Engine) -> Model {
    if engine.name().ends_with("-tso") { Model::Tso } else { Model::Sc }
}

/// Many reads-from classes, and many classes of values too.
const MANY: &str = "
    global s: i32; global u: i32;
    fn same() { store s, 4; let r = load s; }
    fn other(v: i32) { store u, v; let r = load u; }
    fn main() { for i in 0..7 { spawn same(); } for i in 0..5 { spawn other(i + 1); } }";

#[test]
fn auto_does_not_take_a_limit_on_executions_for_impatience() {
    let outcome = run(MANY, "auto", |settings| settings.options.limits.executions = Some(700));
    assert_eq!(outcome.verdict, Verdict::Unknown);
    assert_eq!(outcome.stop, Some(StopReason::Executions(700)));
    assert_eq!(outcome.statistics.runs(), 700);
}

#[test]
fn every_engine_says_which_limit_it_reached() {
    for engine in ENGINES.iter().map(Engine::name) {
        // Formulas and abstract states have no executions to count, and nor has a search of states that come of many executions each.
        if !matches!(engine, "oc" | "cegar") && !engine.ends_with("-tso") {
            let outcome = run(MANY, engine, |settings| {
                settings.options.limits.executions = Some(3);
                // Breadth-first, ends are what it comes to last.
                if engine == "explicit" {
                    settings.options.switches.set(settings.engine, "search=depth").expect("a switch");
                }
            });
            assert_eq!(outcome.stop, Some(StopReason::Executions(3)), "{engine}");
        }
        let outcome = run(MANY, engine, |settings| settings.options.limits.time = Some(std::time::Duration::ZERO));
        assert_eq!(outcome.stop, Some(StopReason::Time(std::time::Duration::ZERO)), "{engine}");
        #[cfg(target_os = "linux")]
        {
            let outcome = run(MANY, engine, |settings| settings.options.limits.memory = Some(1));
            assert_eq!(outcome.stop, Some(StopReason::Memory(1)), "{engine}");
        }
    }
}

#[test]
fn every_engine_hears_an_interrupt() {
    let control = Control::new();
    control.stop();
    for engine in ENGINES.iter() {
        let settings = Settings { engine, ..Settings::new(known_model(engine)) };
        let outcome = verify(&program(MANY), &settings, &control).expect("the engine takes it");
        assert_eq!(outcome.stop, Some(StopReason::Interrupted), "{engine:?}");
    }
}

/// Looks at one execution, in which the first thread that can move does.
struct First;

const LAST: Switch = Switch::on_off("last", false, "let the last thread that can move do so");

impl Engine for First {
    fn name(&self) -> &'static str {
        "first"
    }

    fn summary(&self) -> &'static str {
        "one execution"
    }

    fn equivalence(&self) -> Equivalence {
        Equivalence::Traces
    }

    fn switches(&self) -> &'static [Switch] {
        &[LAST]
    }

    fn takes(&self, question: &Question<'_>) -> Result<(), Refusal> {
        match question.options.model {
            Model::Sc => Ok(()),
            other => Err(Refusal::whole(question.code, format!("the engine `first` does not know {other}"))),
        }
    }

    fn run(&self, question: &Question<'_>, deadline: &Deadline<'_>) -> Result<Outcome, Fault> {
        let Question { code, options } = *question;
        let mut system = System::new(code, options.model, false, false);
        let mut schedule = Schedule::default();
        let (mut reach, mut findings) = (Reach::default(), Vec::new());
        let mut statistics = Statistics::default();
        loop {
            reach.stop = deadline.reached(0);
            let moves = system.moves();
            let next = if options.switches.is_on(&LAST) { moves.last() } else { moves.first() };
            let Some(&step) = next.filter(|_| reach.stop.is_none()) else { break };
            system.step(step).expect("it is among the moves");
            schedule.steps.push(step);
        }
        let failure = system.threads().find_map(|thread| match thread.status() {
            Status::Failed(failure) => Some((failure.property, failure.pc)),
            _ => None,
        });
        match failure {
            Some((Some(property), pc)) => findings.push(confirm(question, schedule, property, pc)?),
            _ => statistics.executions = u64::from(reach.stop.is_none()),
        }
        Ok(Outcome::new(self.name(), question, reach, findings, statistics))
    }
}

#[test]
fn an_engine_is_a_value() {
    let text = "
        global x: i32;
        fn writer() { store x, 1; }
        fn main() { spawn writer(); let r = load x; assert r == 0, \"early\"; }";
    let mut settings = Settings { engine: &First, ..Settings::new(Model::Sc) };
    settings.options.properties = settings.options.properties.without(Property::Race);
    let ask = |settings: &Settings| verify(&program(text), settings, &Control::new());
    assert_eq!(ask(&settings).expect("an answer").verdict, Verdict::Holds);
    settings.options.switches.set(&First, "last=on").expect("its switch");
    let outcome = ask(&settings).expect("an answer");
    assert_eq!((outcome.verdict, outcome.engine), (Verdict::Violated, "first"));
    assert_eq!(outcome.findings[0].violation().message, "early");
    settings.options.limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    assert_eq!(ask(&settings).expect("an answer").verdict, Verdict::Unknown);
    settings.options.model = Model::Tso;
    assert!(ask(&settings).expect_err("refused").to_string().contains("does not know tso"));
}

#[test]
fn a_trace_has_the_deadline_and_the_control_of_its_run() {
    let text = b"thread one:\n    write x = 1\n    write y = 1\nthread two:\n    read y = 1\n    read x = 1\n";
    let found = |time_limit, control: &Control| {
        let settings = raddle::traces::Settings { time_limit, ..raddle::traces::Settings::new(Model::Sc) };
        let answer = raddle::trace("test", text, &settings, control).unwrap_or_else(|error| panic!("{error}"));
        let raddle::report::Body::Trace(trace) = answer.body else { panic!("a trace was asked for") };
        trace.found
    };
    use raddle::report::trace::Found;
    let control = Control::new();
    assert!(matches!(found(None, &control), Found::Consistent(_)));
    let late = found(Some(std::time::Duration::ZERO), &control);
    assert!(matches!(&late, Found::Unknown(why) if why == "the time limit was reached"), "{late:?}");
    control.stop();
    let stopped = found(None, &control);
    assert!(matches!(&stopped, Found::Unknown(why) if why == "it was interrupted"), "{stopped:?}");
}
