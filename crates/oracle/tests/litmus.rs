//! Litmus tests in their own format: the table of `c11.txt` as flavour C, and the classics of x86, with their known answers, final states against brute force.

use raddle::litmus::{Test, parse};
use raddle::report::Body;
use raddle::{Control, LoadOptions, Loaded, Model, PropertySet, Settings, Verdict};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options};
use raddle_oracle::{Budget, enumerate};
use raddle_trace::Property;
use std::collections::BTreeSet;

const MODELS: [Model; 5] = [Model::Sc, Model::Sra, Model::Ra, Model::Wra, Model::Rc11];

/// How an ordering is called in C, for a load, a store or an update.
fn order(name: &str, kind: &str) -> &'static str {
    match (name, kind) {
        ("rlx", _) => "memory_order_relaxed",
        ("acq", _) | ("ra", "load") => "memory_order_acquire",
        ("rel", _) | ("ra", "store") => "memory_order_release",
        ("ra" | "ar" | "acqrel", _) => "memory_order_acq_rel",
        ("sc", _) => "memory_order_seq_cst",
        other => panic!("what is {other:?}?"),
    }
}

/// An instruction of the table as a statement of C.
fn statement(text: &str, default: &str) -> String {
    if let Some(name) = text.strip_prefix("f.") {
        return format!("atomic_thread_fence({});", order(name, "fence"));
    }
    if let Some(condition) = text.strip_prefix("if ") {
        return format!("if ({condition}) {{");
    }
    let (target, value) = text.split_once('=').expect("an assignment");
    if target.chars().all(|c| "xyzw".contains(c)) {
        let (value, name) = value.split_once('.').unwrap_or((value, default));
        return match name {
            "na" => format!("*{target} = {value};"),
            name => format!("atomic_store_explicit({target}, {value}, {});", order(name, "store")),
        };
    }
    let Some((operation, rest)) = value.split_once('(') else {
        let (place, name) = value.split_once('.').unwrap_or((value, default));
        return match name {
            "na" => format!("int {target} = *{place};"),
            name => format!("int {target} = atomic_load_explicit({place}, {});", order(name, "load")),
        };
    };
    let (arguments, name) = rest.split_once(')').expect("a closing bracket");
    let name = name.strip_prefix('.').unwrap_or(default);
    match operation {
        "faa" => format!("int {target} = atomic_fetch_add_explicit({}, {});", arguments, order(name, "update")),
        "xchg" => format!("int {target} = atomic_exchange_explicit({}, {});", arguments, order(name, "update")),
        "cas" => {
            let parts: Vec<&str> = arguments.split(',').collect();
            let (success, failure) = name.split_once('/').unwrap_or((
                name,
                match name {
                    "ra" | "ar" => "acq",
                    "rel" => "rlx",
                    other => other,
                },
            ));
            // The register of the table has the value found; so has the expected one after a failure.
            format!(
                "int {target} = {expected}; atomic_compare_exchange_strong_explicit({}, &{target}, {}, {}, {});",
                parts[0],
                parts[2],
                order(success, "update"),
                order(failure, "load"),
                expected = parts[1],
            )
        }
        other => panic!("what is {other}?"),
    }
}

/// A row of the table as a litmus test, and its cells.
fn row(line: &str) -> (String, Vec<&str>) {
    let (name, rest) = line.split_once(" | ").expect("a name");
    let (default, rest) = rest.split_once(" | ").expect("an ordering");
    let mut columns = rest.split(" | ").map(str::trim);
    let program = columns.next().expect("a program");
    let outcome = columns.next().expect("an outcome");
    let mut text = format!("C {}\n{{ }}\n", name.trim());
    for (number, thread) in program.split("||").enumerate() {
        let statements: Vec<String> = thread.split(';').map(|part| statement(part.trim(), default.trim())).collect();
        let open = statements.iter().filter(|part| part.ends_with('{')).count();
        let body = statements.join("\n  ") + &"\n}".repeat(open);
        text += &format!("P{number} (atomic_int *x, atomic_int *y, atomic_int *z, atomic_int *w) {{\n  {body}\n}}\n");
    }
    // Plain accesses are those of plain types.
    if text.contains("= *") || text.contains(" *x = ") || default.trim() == "na" {
        text = text.replace("atomic_int", "int");
    }
    let atoms: Vec<String> = outcome
        .split(' ')
        .map(|atom| match atom.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("{}:{}", &atom[..1], &atom[1..]),
            false => atom.to_owned(),
        })
        .collect();
    (text + &format!("exists ({})\n", atoms.join(" /\\ ")), columns.collect())
}

/// The answer about a test: how many executions there are without a condition, its final states, and whether the condition is reached; or why there is none.
fn answer(test: &Test, model: Model) -> Result<(u64, BTreeSet<Vec<String>>, bool), String> {
    let mut settings = Settings::new(model);
    settings.options.properties = PropertySet::all().without(Property::Race);
    let loaded = Loaded {
        program: test.question.clone(),
        notes: Vec::new(),
        litmus: Some(Box::new(test.clone())),
        model,
        sc_only: None,
        habits: raddle::c::Habits::default(),
    };
    let load = LoadOptions::default();
    let question = raddle::answer::Question { file: "test", load: &load, loaded: &loaded, settings: &settings };
    let answer = raddle::litmus(&question, test, true, &Control::new()).map_err(|error| error.to_string())?;
    let Body::Litmus(found) = answer.body else { panic!("a litmus test") };
    let states = found.states.expect("they were asked for");
    let executions = states.iter().map(|state| state.executions).sum();
    let reached = states.iter().any(|state| state.satisfies);
    assert_eq!(found.check.verdict, if reached { Verdict::Holds } else { Verdict::Violated }, "{}", test.name);
    Ok((executions, states.into_iter().map(|state| state.values).collect(), reached))
}

/// The final states by brute force: what `main` reads in the end.
fn brute(test: &Test, model: Model) -> Option<BTreeSet<Vec<String>>> {
    let code = compile(&test.census, &AllShared, &Options::default());
    let found = enumerate(&code, model, Budget { states: 100_000, ..Budget::default() }).ok()?;
    let shown = |value: &u64| (*value as i64).to_string();
    Some(found.outcomes.iter().map(|outcome| outcome.reads[0].iter().map(shown).collect()).collect())
}

#[test]
fn the_litmus_table_in_the_format() {
    let (mut wrong, mut cells, mut compared) = (Vec::new(), 0, 0);
    let lines = include_str!("c11.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let (text, expected) = row(line);
        let test = parse("row.litmus", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let registers_only = test.observed.iter().all(|name| name.contains(':'));
        for model in Model::EVERY {
            let (executions, states, reached) =
                answer(&test, model).unwrap_or_else(|why| panic!("{} under {model}: {why}", test.name));
            // Under WRA a location has no last value, so conditions on memory have other counts.
            if let Some(at) = MODELS.iter().position(|known| *known == model)
                && (registers_only || model != Model::Wra)
            {
                cells += 1;
                let cell = expected[at];
                let graphs: u64 = cell.split([' ', '/']).next().and_then(|count| count.parse().ok()).expect("a count");
                if executions != graphs || reached != cell.contains('+') {
                    wrong.push(format!("{} under {model}: {executions} {reached}, not {cell}", test.name));
                }
            }
            if let Some(known) = brute(&test, model) {
                compared += 1;
                if known != states {
                    wrong.push(format!("{} under {model}: {states:?}, not {known:?}", test.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cells >= 360, "{cells} cells");
    assert!(compared >= 250, "{compared} sets of final states");
}

/// A test of x86: threads as columns, one instruction after the other.
fn x86(threads: &[&str], condition: &str) -> Test {
    let columns: Vec<Vec<&str>> = threads.iter().map(|thread| thread.split(';').map(str::trim).collect()).collect();
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let names: Vec<String> = (0..threads.len()).map(|number| format!("P{number}")).collect();
    let mut text = format!("X86 test\n{{ }}\n {} ;\n", names.join(" | "));
    for at in 0..rows {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(at).copied().unwrap_or("")).collect();
        text += &format!(" {} ;\n", cells.join(" | "));
    }
    text += condition;
    parse("x86.litmus", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Whether the outcome is possible under SC and under TSO: Owens, Sarkar, Sewell 2009, and the same shapes with fences.
#[test]
fn classics_of_x86() {
    let mov = "MOV [x],$1; MOV EAX,[y]";
    let rows: [(&str, &[&str], &str, [bool; 2]); 16] = [
        ("SB", &[mov, "MOV [y],$1; MOV EAX,[x]"], "0:EAX=0 /\\ 1:EAX=0", [false, true]),
        (
            "SB+mfence+po",
            &["MOV [x],$1; MFENCE; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]"],
            "0:EAX=0 /\\ 1:EAX=0",
            [false, true],
        ),
        (
            "SB+mfences",
            &["MOV [x],$1; MFENCE; MOV EAX,[y]", "MOV [y],$1; MFENCE; MOV EAX,[x]"],
            "0:EAX=0 /\\ 1:EAX=0",
            [false, false],
        ),
        (
            "SB+sfences and lfences",
            &["MOV [x],$1; SFENCE; LFENCE; MOV EAX,[y]", "MOV [y],$1; SFENCE; LFENCE; MOV EAX,[x]"],
            "0:EAX=0 /\\ 1:EAX=0",
            [false, true],
        ),
        (
            "SB+xchgs",
            &["MOV EBX,$1; XCHG [x],EBX; MOV EAX,[y]", "MOV EBX,$1; XCHG [y],EBX; MOV EAX,[x]"],
            "0:EAX=0 /\\ 1:EAX=0",
            [false, false],
        ),
        (
            "SB+locks",
            &["LOCK INC [x]; MOV EAX,[y]", "LOCK INC [y]; MOV EAX,[x]"],
            "0:EAX=0 /\\ 1:EAX=0",
            [false, false],
        ),
        (
            "SB with plain increments",
            &["INC [x]; MOV EAX,[y]", "INC [y]; MOV EAX,[x]"],
            "0:EAX=0 /\\ 1:EAX=0",
            [false, true],
        ),
        ("MP", &["MOV [x],$1; MOV [y],$1", "MOV EAX,[y]; MOV EBX,[x]"], "1:EAX=1 /\\ 1:EBX=0", [false, false]),
        ("LB", &["MOV EAX,[x]; MOV [y],$1", "MOV EAX,[y]; MOV [x],$1"], "0:EAX=1 /\\ 1:EAX=1", [false, false]),
        ("R", &["MOV [x],$1; MOV [y],$1", "MOV [y],$2; MOV EAX,[x]"], "y=2 /\\ 1:EAX=0", [false, true]),
        (
            "R+po+mfence",
            &["MOV [x],$1; MOV [y],$1", "MOV [y],$2; MFENCE; MOV EAX,[x]"],
            "y=2 /\\ 1:EAX=0",
            [false, false],
        ),
        ("S", &["MOV [x],$2; MOV [y],$1", "MOV EAX,[y]; MOV [x],$1"], "x=2 /\\ 1:EAX=1", [false, false]),
        ("2+2W", &["MOV [x],$1; MOV [y],$2", "MOV [y],$1; MOV [x],$2"], "x=1 /\\ y=1", [false, false]),
        (
            "IRIW",
            &["MOV [x],$1", "MOV [y],$1", "MOV EAX,[x]; MOV EBX,[y]", "MOV EAX,[y]; MOV EBX,[x]"],
            "2:EAX=1 /\\ 2:EBX=0 /\\ 3:EAX=1 /\\ 3:EBX=0",
            [false, false],
        ),
        (
            "n6",
            &["MOV [x],$1; MOV EAX,[x]; MOV EBX,[y]", "MOV [y],$2; MOV [x],$2"],
            "0:EAX=1 /\\ 0:EBX=0 /\\ x=1",
            [false, true],
        ),
        ("n5", &["MOV [x],$1; MOV EAX,[x]", "MOV [x],$2; MOV EBX,[x]"], "0:EAX=2 /\\ 1:EBX=1", [false, false]),
    ];
    for (name, threads, outcome, expected) in rows {
        let test = x86(threads, &format!("exists ({outcome})"));
        for (model, expected) in [Model::Sc, Model::Tso].into_iter().zip(expected) {
            let (_, states, reached) = answer(&test, model).expect("an answer");
            assert_eq!(reached, expected, "{name} under {model}");
            assert_eq!(Some(states), brute(&test, model), "{name} under {model}");
        }
    }
}

/// What the other instructions do, in one thread.
#[test]
fn instructions_of_x86() {
    let rows = [
        ("MOV EAX,$5; ADD EAX,$2; SUB EAX,$3; MOV [x],EAX", "x=4 /\\ 0:RAX=4"),
        ("MOV EAX,$6; AND EAX,$3; OR EAX,$8; XOR EAX,$1; MOV EBX,EAX", "0:EBX=11"),
        ("MOV EAX,$-1; NEG EAX; NOT EAX", "0:EAX=-2"),
        ("MOV EAX,$0xffffffff", "0:EAX=-1"),
        ("MOV EAX,$0xffffffff", "0:EAX=0xffffffff"),
        ("MOV EAX,$1; MOV EBX,$7; LOCK XADD [x],EBX; XADD [x],EAX", "x=8 /\\ 0:EBX=0 /\\ 0:EAX=7"),
        ("MOV EAX,$0; MOV EBX,$3; LOCK CMPXCHG [x],EBX; SETE CL", "x=3 /\\ 0:EAX=0 /\\ 0:ECX=1"),
        ("MOV EAX,$2; MOV EBX,$3; LOCK CMPXCHG [x],EBX; SETE CL", "x=0 /\\ 0:EAX=0 /\\ 0:ECX=0"),
        ("MOV EAX,$2; MOV EBX,$3; CMPXCHG [x],EBX; JNE out; MOV [x],$9; out:", "x=0"),
        ("MOV EAX,$3; L: INC [x]; DEC EAX; JNZ L", "x=3"),
        ("MOV EAX,$3; L: INC [x]; CMP [x],EAX; JL L", "x=3"),
        ("MOV EAX,$1; CMP EAX,$2; CMOVL EBX,EAX; CMOVG ECX,EAX", "0:EBX=1 /\\ 0:ECX=0"),
        ("MOV EAX,$-1; CMP EAX,$2; SETB BL; SETL CL", "0:EBX=0 /\\ 0:ECX=1"),
        ("MOV EAX,$1; TEST EAX,EAX; JE out; MOV [x],$1; out:", "x=1"),
        ("MOV EAX,$1; MOV EBX,$2; XCHG EAX,EBX", "0:EAX=2 /\\ 0:EBX=1"),
        ("movl $1,(x); movl (x),%eax; addl %eax,%eax; movl %eax,(y)", "y=2"),
        ("MOV EAX,$x; MOV [EAX],$4; MOV EBX,[x]", "0:EBX=4 /\\ 0:EAX=x"),
        ("LEA EAX,[x]; MOV [y],EAX; JMP out; MOV [y],$1; out: NOP", "y=x"),
    ];
    for (code, outcome) in rows {
        let test = x86(&[code], &format!("exists ({outcome})"));
        let (executions, states, reached) = answer(&test, Model::Tso).expect("an answer");
        assert_eq!((executions, reached), (1, true), "{code}: {states:?}");
    }
}

/// A weak compare-exchange may fail although it finds what it expects, and then has changed nothing.
#[test]
fn a_weak_exchange_may_fail_by_itself() {
    let text = |name: &str| {
        format!(
            "C weak\n{{}}\nP0 (atomic_int *x) {{ int e = 0;\n\
             int r = atomic_compare_exchange_{name}(x, &e, 1);\n }}\nexists (0:r=0 /\\ 0:e=0 /\\ x=0)"
        )
    };
    for (name, states) in [("strong", 1), ("weak", 2)] {
        let test = parse("weak.litmus", &text(name)).unwrap_or_else(|errors| panic!("{errors}"));
        let (_, found, reached) = answer(&test, Model::Rc11).expect("it is taken");
        assert_eq!((found.len(), reached), (states, name == "weak"), "{name}: {found:?}");
    }
}
