//! The models that are defined by axioms, against a table of litmus tests in which every number is known.

use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options};
use raddle_oracle::compare::explorer;
use raddle_oracle::{Behaviours, Budget, Effort, Family, Sweep, enumerate, generate};
use raddle_trace::{Model, Verdict};
use std::fmt::Write;

/// One row of the table.
struct Row<'t> {
    name: &'t str,
    /// The ordering of accesses that name none.
    default: &'t str,
    threads: Vec<Vec<&'t str>>,
    outcome: &'t str,
    cells: [&'t str; 5],
}

const MODELS: [Model; 5] = [Model::Sc, Model::Sra, Model::Ra, Model::Wra, Model::Rc11];

fn table() -> Vec<Row<'static>> {
    let lines = include_str!("c11.txt").lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        // The bars between threads are double.
        let (head, rest) = line.split_once(" | ").expect("a name");
        let (default, rest) = rest.split_once(" | ").expect("an ordering");
        let mut columns = rest.split(" | ").map(str::trim);
        let threads =
            columns.next().expect("a program").split("||").map(|thread| thread.split(';').map(str::trim).collect());
        let outcome = columns.next().expect("an outcome");
        let cells: Vec<&str> = columns.collect();
        Row {
            name: head.trim(),
            default: default.trim(),
            threads: threads.collect(),
            outcome,
            cells: cells.try_into().expect("five models"),
        }
    };
    lines.map(row).collect()
}

/// Splits `x.acq` into what and how.
fn ordered<'t>(text: &'t str, default: &'t str, kind: &'t str) -> (&'t str, String) {
    let (what, order) = text.split_once('.').unwrap_or((text, default));
    let order = match (order, kind) {
        ("ra", "load") => "acq",
        ("ra", "store") => "rel",
        ("ra" | "ar", _) => "acqrel",
        (other, _) => other,
    };
    (what, order.replace('/', "."))
}

/// The instruction in the language of programs, and the register it sets.
fn instruction<'t>(text: &'t str, default: &'t str) -> (String, Option<&'t str>) {
    if let Some(order) = text.strip_prefix("f.") {
        return (format!("fence.{};", ordered("f", order, "fence").1), None);
    }
    let (target, value) = text.split_once('=').expect("an assignment");
    if target.chars().all(|c| "xyzw".contains(c)) {
        let (value, order) = ordered(value, default, "store");
        return (format!("store.{order} {target}, {value};"), None);
    }
    let words = match value.split_once('(') {
        None => {
            let (place, order) = ordered(value, default, "load");
            format!("let {target} = load.{order} {place};")
        }
        Some((operation, rest)) => {
            let (arguments, order) = rest.split_once(')').expect("a closing bracket");
            let order = ordered("", order.strip_prefix('.').unwrap_or(default), "update").1;
            let arguments = arguments.replace(',', ", ");
            match operation {
                "faa" => format!("let {target} = rmw.add.{order} {arguments};"),
                "xchg" => format!("let {target} = rmw.xchg.{order} {arguments};"),
                "cas" => format!("let {target} = cas.{order} {arguments};"),
                other => panic!("what is {other}?"),
            }
        }
    };
    (words, Some(target))
}

/// The program, and for each thread the registers that its reads set, in order.
fn program<'t>(row: &Row<'t>) -> (String, Vec<Vec<&'t str>>) {
    let mut text: String = "xyzw".chars().map(|name| format!("global {name}: i32; ")).collect();
    let mut registers = Vec::new();
    for (number, thread) in row.threads.iter().enumerate() {
        write!(text, "fn t{number}() {{ ").expect("a string takes everything");
        let (mut read, mut open) = (Vec::new(), 0);
        for part in thread {
            match part.strip_prefix("if ") {
                Some(test) => {
                    text += &format!("if {} {{ ", test.replace("==", " == "));
                    open += 1;
                }
                None => {
                    let (words, register) = instruction(part, row.default);
                    text += &words;
                    text += " ";
                    read.extend(register);
                }
            }
        }
        text += &"} ".repeat(open + 1);
        registers.push(read);
    }
    text += "fn main() { ";
    (0..row.threads.len()).for_each(|number| text += &format!("spawn t{number}(); "));
    text += "}";
    (text, registers)
}

fn behaviours(text: &str, model: Model) -> Behaviours {
    let program = raddle_program::parse("litmus", text, &[]).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let code = compile(&program, &AllShared, &Options::default());
    enumerate(&code, model, Budget { states: 5_000_000, ..Budget::default() }).expect("small enough")
}

/// Whether some run has the weak outcome.
fn is_possible(row: &Row<'_>, registers: &[Vec<&str>], found: &Behaviours) -> bool {
    found.outcomes.iter().any(|outcome| {
        row.outcome.split(' ').all(|condition| {
            let (name, value) = condition.split_once('=').expect("a condition");
            let value: u64 = value.parse().expect("a number");
            match name.chars().next().and_then(|c| c.to_digit(10)) {
                // Thread 0 of the program is the one that starts the others.
                Some(thread) => {
                    let at = registers[thread as usize].iter().position(|&register| register == &name[1..]);
                    outcome.reads[thread as usize + 1].get(at.expect("a register")) == Some(&value)
                }
                None => outcome.memory.get(name) == Some(&value),
            }
        })
    })
}

/// How many executions the engine `optimal` counts.
fn executions(text: &str, model: Model) -> u64 {
    executions_by("optimal", text, model)
}

fn executions_by(engine: &str, text: &str, model: Model) -> u64 {
    let program = raddle_program::parse("litmus", text, &[]).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let code = compile(&program, &AllShared, &Options::default());
    let mut options = raddle_engine::Options::new(model);
    options.properties = raddle_engine::PropertySet::all().without(raddle_trace::Property::Race);
    let question = raddle_engine::Question { code: &code, options: &options };
    let engine: &dyn raddle_engine::Engine = raddle::ENGINES.find(engine).expect("it is there");
    let outcome = engine.ask(&question, &raddle_engine::Control::new());
    outcome.unwrap_or_else(|error| panic!("{text} under {model}: {error}")).statistics.executions
}

#[test]
fn engines_on_the_litmus_table() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in &table() {
        let (text, _) = program(row);
        for (&cell, model) in row.cells.iter().zip(MODELS) {
            let counts = cell.split_once(' ').expect("a count and a sign").0;
            let (graphs, sources) = counts.split_once('/').unwrap_or((counts, counts));
            for (engine, count) in [("optimal", graphs), ("rf", sources)] {
                let found = executions_by(engine, &text, model);
                compared += 1;
                if found != count.parse::<u64>().expect("a number") {
                    wrong.push(format!("{} under {model} by {engine}: {found}, not {count}", row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(compared, 800);
}

/// Programs on which a search with one rule left out or taken too far counts something else, whatever the order of threads.
#[test]
fn traps() {
    let all = [Model::Sra, Model::Ra, Model::Wra, Model::Rc11];
    let (rc11, sra, wra) = ([Model::Rc11], [Model::Sra], [Model::Wra]);
    let traps: [(&[Model], &str, u64); 13] = [
        (&rc11, "a=x || b=faa(x,1) || x=2", 6),
        (&rc11, "x=1 || a=x; b=x", 3),
        (&rc11, "x=1; f.sc; a=y || y=1; f.sc; a=x", 3),
        (&rc11, "z=1; f.sc; a=x || x=1; f.sc; y=1.rel || a=y.acq; b=z", 7),
        (&rc11, "x=1.sc; x=2.sc; b=y.sc || y=1.sc; a=cas(x,1,5).sc/rlx", 5),
        (&sra, "z=2; f.sc; a=x || x=1; f.sc; y=1 || y=2; z=1", 7),
        (&sra, "x=2; y=2 || y=1; x=1", 3),
        (&wra, "a=x || x=2; b=faa(x,1) || x=1", 8),
        (&wra, "a=faa(x,1) || b=faa(x,1); x=1 || c=faa(x,1)", 12),
        (&all, "a=faa(x,1) || b=faa(x,1)", 2),
        (&rc11, "x=1; y=1.rel; y=2 || a=y.acq; b=x", 5),
        (&rc11, "x=1.sc; y=1 || a=y; b=z.sc || z=1.sc; a=x.sc", 8),
        (&rc11, "x=1; y=1.rel || c=faa(y,1) || a=y.acq; b=x", 9),
    ];
    for (models, text, expected) in traps {
        let threads: Vec<Vec<&str>> =
            text.split("||").map(|thread| thread.split(';').map(str::trim).collect()).collect();
        for order in orders(threads.len()) {
            let threads = order.iter().map(|&at| threads[at].clone()).collect();
            let row = Row { name: text, default: "rlx", threads, outcome: "", cells: [""; 5] };
            let text_of = program(&row).0;
            for &model in models {
                assert_eq!(executions(&text_of, model), expected, "{text} under {model} as {order:?}");
                let sources = behaviours(&text_of, model).reads_from() as u64;
                let found = executions_by("rf", &text_of, model);
                assert_eq!(found, sources, "{text} under {model} as {order:?} by rf");
            }
        }
    }
}

/// The program of a row with one ordering for all accesses, and full fences only, or one after every access.
fn uniform(row: &Row<'static>, default: &'static str, fences: bool) -> String {
    let plain = |part: &'static str| match part.split_once('.') {
        Some(("f", _)) => "f.sc",
        Some((head, _)) => head,
        None => part,
    };
    let fenced = |part: &'static str| {
        let follows = (fences && !part.starts_with("if ")).then_some("f.sc");
        [Some(part), follows].into_iter().flatten()
    };
    let threads = row.threads.iter().map(|thread| thread.iter().map(|part| plain(part)).flat_map(fenced).collect());
    program(&Row { name: row.name, default, threads: threads.collect(), outcome: "", cells: [""; 5] }).0
}

/// What is known to be the same under different models is so.
#[test]
fn laws() {
    for row in &table() {
        let strong = uniform(row, "sc", false);
        assert_eq!(executions(&strong, Model::Rc11), executions(&strong, Model::Sc), "{}, all seq_cst", row.name);
        let fenced = uniform(row, "rlx", true);
        for model in [Model::Sra, Model::Ra, Model::Rc11] {
            let [weak, sequential] = [model, Model::Sc].map(|model| executions(&fenced, model));
            assert_eq!(weak, sequential, "{} with fences under {model}", row.name);
        }
        let causal = uniform(row, "ra", false);
        assert_eq!(executions(&causal, Model::Rc11), executions(&causal, Model::Ra), "{}, all acq_rel", row.name);
        let counts = [Model::Sc, Model::Sra, Model::Ra, Model::Rc11].map(|model| executions(&causal, model));
        assert!(counts.is_sorted(), "{}: {counts:?}", row.name);
    }
}

/// All orders of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: Vec<usize>| {
        (0..count).map(move |at| {
            let mut order = order.clone();
            order.insert(at, count - 1);
            order
        })
    };
    orders(count - 1).into_iter().flat_map(insert).collect()
}

/// An update cannot read what another one has taken, so that is no way to show a race.
#[test]
fn half_an_update_shows_no_race() {
    let text = "
        global n: i32; global y: i32;
        fn first() { store.na n, 0; let r = rmw.add.acqrel n, 2; let s = rmw.add.rel n, 2; store.rlx y, 1; }
        fn second() { let seen = load.rlx y; if seen == 1 { let r = rmw.or.ORDER n, 2; } }
        fn third() { store.na n, 0; let r = rmw.xchg.ORDER n, 0; store.na n, 0; }
        fn main() { spawn first(); spawn second(); spawn third(); }";
    for order in ["sc", "acq", "rel", "rlx"] {
        let program = raddle_program::parse("update", &text.replace("ORDER", order), &[]).expect("a program");
        let code = compile(&program, &AllShared, &Options::default());
        let options = raddle_engine::Options { all: true, ..raddle_engine::Options::new(Model::Rc11) };
        let engine: &dyn raddle_engine::Engine = raddle::ENGINES.find("optimal").expect("it is there");
        let question = raddle_engine::Question { code: &code, options: &options };
        let found = engine.ask(&question, &raddle_engine::Control::new()).expect("an answer");
        assert_eq!(found.verdict, Verdict::Violated, "{order}");
        let brute = enumerate(&code, Model::Rc11, Budget { races: true, ..Budget::default() }).expect("small enough");
        let raced = brute.failures.iter().any(|failure| failure.property == raddle_trace::Property::Race);
        assert!(raced, "{order}");
    }
}

/// What an engine and brute force say of a program: whether there is a violation.
fn verdicts(text: &str, model: Model) -> [bool; 3] {
    let program = raddle_program::parse("program", text, &[]).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let code = compile(&program, &AllShared, &Options::default());
    let options = raddle_engine::Options { all: true, ..raddle_engine::Options::new(model) };
    let question = raddle_engine::Question { code: &code, options: &options };
    let by = |engine: &str| {
        let engine: &dyn raddle_engine::Engine = raddle::ENGINES.find(engine).expect("it is there");
        let found = engine.ask(&question, &raddle_engine::Control::new()).expect("an answer");
        assert_eq!(found.statistics.redundant.unwrap_or(0), 0, "{text} under {model}");
        found.verdict == Verdict::Violated
    };
    let brute = enumerate(&code, model, Budget { races: true, ..Budget::default() }).expect("small enough");
    [by("optimal"), by("rf"), !brute.failures.is_empty()]
}

/// An update races though another one has taken what it reads: it could have come first.
#[test]
fn an_update_that_came_too_late_could_have_come_first() {
    let text = "
        global x: i32; global n: i32;
        fn first() { store.na n, 0; store.rlx x, 1; rmw.or.rel n, 0; }
        fn second() { let a = load.rlx x; if a == 1 { rmw.add.acq n, 0; } }
        fn main() { spawn first(); spawn second(); }";
    for model in Model::AXIOMATIC {
        assert_eq!(verdicts(text, model), [true; 3], "{model}");
    }
}

/// Two accesses of one location are in the order of seq_cst accesses with what follows them elsewhere. So it counts that there is an access between them, though nobody else looks at
/// its location.
#[test]
fn an_access_in_between_orders() {
    let text = "
        global x: i32; global y: i32; global own: i32; global seen: i32[3];
        fn first() { store.sc x, 1; BETWEEN store.rel x, 2; }
        fn second() { let a = load.acq x; let b = load.sc y; store.na seen[0], a; store.na seen[1], b; }
        fn third() { store.sc y, 1; let c = load.sc x; store.na seen[2], c; }
        fn main() {
            let t = spawn first(); let u = spawn second(); let v = spawn third();
            join t; join u; join v;
            let a = load.na seen[0]; let b = load.na seen[1]; let c = load.na seen[2];
            assert !(a == 2 && b == 0 && c == 0);
        }";
    let between = "store.rlx own, 1; let again = load.rlx own;";
    assert_eq!(verdicts(&text.replace("BETWEEN", between), Model::Rc11), [false; 3]);
    assert_eq!(verdicts(&text.replace("BETWEEN", ""), Model::Rc11), [true; 3]);
}

/// A write after the end of its object's life has no effect, so it is the same at every place.
#[test]
fn a_write_that_comes_too_late_is_one_execution() {
    let text = "
        fn early(node: ptr) { store.rlx i64 *node, 1; }
        fn late(node: ptr) { store.rlx i64 *node, 2; }
        fn main() {
            let node = alloc zeroed 8;
            spawn late(node);
            let t = spawn early(node);
            join t;
            free node;
        }";
    for model in Model::AXIOMATIC {
        assert_eq!(verdicts(text, model), [true; 3], "{model}");
    }
}

/// How many random programs of each family are compared under each model, and how many of all families at least.
const PROGRAMS: u64 = 12;
const LEAST: u64 = 60;

/// Compares so many random programs of a family under these models, by both engines.
fn hold(sweep: &mut Sweep, family: Family, programs: u64, models: &[Model]) {
    for index in 0..programs {
        let sketch = generate(family, 2, index);
        let disagreements = sweep.compare(family, &sketch, models);
        let told: Vec<String> = disagreements.iter().map(|it| format!("{}: {:?}", it.model, it.differences)).collect();
        assert!(told.is_empty(), "program {index} of family {family}: {told:?}\n{sketch}");
    }
}

fn sweep() -> Sweep {
    let engines = ["optimal", "rf"].map(|name| explorer(raddle::ENGINES.find(name).expect("it is there")));
    Sweep::new(engines.into(), Effort { states: 1_000, classes: 500 })
}

#[test]
fn random_programs() {
    let mut sweep = sweep();
    Family::ALL.into_iter().for_each(|family| hold(&mut sweep, family, PROGRAMS, &Model::AXIOMATIC));
    for model in Model::AXIOMATIC {
        let compared = sweep.tally(|_, _, other| other == model).compared() / 2;
        assert!(compared >= LEAST, "{compared} programs under {model}");
    }
}

/// The order of seq_cst accesses and full fences is asked for under two models; few programs of other families depend on it.
#[test]
fn random_programs_with_a_common_order() {
    let (mut sweep, models) = (sweep(), [Model::Rc11, Model::Ra]);
    hold(&mut sweep, Family::Strong, 120, &models);
    for model in models {
        let compared = sweep.tally(|_, _, other| other == model).compared() / 2;
        assert!(compared >= 100, "{compared} programs under {model}");
    }
}

#[test]
fn the_litmus_table() {
    let mut wrong = Vec::new();
    let table = table();
    assert_eq!(table.len(), 80);
    for row in &table {
        let (text, registers) = program(row);
        for (&cell, model) in row.cells.iter().zip(MODELS) {
            let found = behaviours(&text, model);
            let (counts, weak) = cell.split_once(' ').expect("a count and a sign");
            let (graphs, sources) = counts.split_once('/').unwrap_or((counts, counts));
            let expected: [usize; 2] = [graphs, sources].map(|count| count.parse().expect("a number"));
            // Where writes have no order, that of fences is part of a class.
            let counts = [found.traces(), if model == Model::Wra { found.traces() } else { found.reads_from() }];
            if counts != expected {
                wrong.push(format!("{} under {model}: {counts:?}, not {expected:?}", row.name));
            }
            // Under WRA there is no last value.
            let decided = model != Model::Wra
                || row.outcome.split(' ').all(|condition| condition.starts_with(|c: char| c.is_ascii_digit()));
            if decided && is_possible(row, &registers, &found) != weak.starts_with('+') {
                wrong.push(format!("{} under {model}: the outcome should be {weak}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
