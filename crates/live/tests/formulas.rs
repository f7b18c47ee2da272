//! Formulas: the automaton accepts what the definition says, on random formulas and words; and programs break or keep what they should.

use raddle_engine::{Control, Options, Question};
use raddle_fair::labelled::{EVERYWHERE, Labelled, NOBODY};
use raddle_live::ltl::formula::Formula;
use raddle_live::ltl::tableau::{Automaton, automaton};
use raddle_live::ltl::{Ltl, word};
use raddle_live::{BUFFER, Fairness, Goal, Settings, Strength, Unit, Verdict, decide};
use raddle_machine::compile;
use raddle_machine::compile::{AllShared, Options as CompileOptions};
use raddle_testkit::{Random, setting};
use raddle_trace::Model;

fn random(random: &mut Random, depth: usize) -> Formula {
    let one = |random: &mut Random| Box::new(self::random(random, depth - 1));
    match if depth == 0 { random.below(2) } else { random.below(7) } {
        0 => Formula::True,
        1 => Formula::Atom(random.below(2)),
        2 => Formula::Not(one(random)),
        3 => Formula::Next(one(random)),
        4 => Formula::And(one(random), one(random)),
        _ => Formula::Until(one(random), one(random)),
    }
}

/// Whether the automaton accepts the word whose letters from `back` on repeat: some way through both goes round an accepting loop.
fn accepts(automaton: &Automaton, letters: &[u64], back: usize) -> bool {
    let states = automaton.states.len();
    let number = |position: usize, state: u32| (position * states) as u32 + state;
    let takes = |position: usize, state: u32| automaton.states[state as usize].takes(letters[position]);
    let mut graph = Labelled::new(automaton.accepting.len());
    let sets = 0..automaton.accepting.len() as u16;
    for position in 0..letters.len() {
        let next = if position + 1 == letters.len() { back } else { position + 1 };
        for state in 0..states as u32 {
            let following = automaton.states[state as usize].next.iter().copied();
            let edges = following.filter(|&to| takes(position, state) && takes(next, to));
            let gives = sets.clone().filter(|&set| automaton.accepting[usize::from(set)][state as usize]);
            graph.push(sets.clone(), gives, edges.map(|to| (number(next, to), NOBODY)).collect::<Vec<_>>());
        }
    }
    let mut reached = vec![false; graph.len()];
    let mut todo: Vec<u32> =
        automaton.initial.iter().copied().filter(|&state| takes(0, state)).map(|state| number(0, state)).collect();
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut reached[at as usize], true) {
            todo.extend(graph.from(at).map(|edge| graph.target(edge)));
        }
    }
    let found = graph.decompose(&EVERYWHERE, &|| false).expect("nobody stops it");
    found.good.iter().any(|set| reached[set[0] as usize])
}

#[test]
fn automata_accept_what_formulas_say() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..setting("RADDLE_LIVE_FORMULAS", 3_000) {
        let dice = &mut Random::new(0xf0 + seed);
        let formula = random(dice, 3);
        let letters: Vec<u64> = (0..dice.between(1, 5)).map(|_| dice.below(4) as u64).collect();
        let back = dice.below(letters.len());
        let holds = word::holds(&formula, &letters, back);
        let (Some(own), Some(other)) = (automaton(&formula), automaton(&formula.clone().negated())) else { continue };
        assert_eq!(accepts(&own, &letters, back), holds, "seed {seed}: {formula:?} of {letters:?} from {back}");
        assert_eq!(accepts(&other, &letters, back), !holds, "seed {seed}: not {formula:?} of {letters:?} from {back}");
        if holds { yes += 1 } else { no += 1 }
    }
    assert!(yes > 400 && no > 400, "{yes} {no}");
}

#[test]
fn the_definition_is_that_of_temporal_logic() {
    let (p, q) = (|| Box::new(Formula::Atom(0)), || Box::new(Formula::Atom(1)));
    let until = Formula::Until(p(), q());
    // Letters: 1 is p, 2 is q.
    assert!(word::holds(&until, &[1, 1, 2, 0], 3));
    assert!(!word::holds(&until, &[1, 0, 2], 2));
    assert!(!word::holds(&until, &[1, 1], 0), "q has to come");
    assert!(word::holds(&until, &[1, 1, 2, 1], 1));
    let next = Formula::Next(p());
    assert!(word::holds(&next, &[0, 1, 0], 2) && !word::holds(&next, &[1, 0], 0));
    assert!(word::holds(&next, &[1], 0));
}

fn decided(text: &str, formula: &str, strength: Strength) -> Verdict {
    let program = raddle_program::parse("test.rdl", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let formula = Ltl::parse(formula, &program).unwrap_or_else(|wrong| panic!("{formula}: {wrong:?}"));
    let code = compile(&program, &AllShared, &CompileOptions::default());
    let options = Options::new(Model::Sc);
    let fairness = Fairness { strength, unit: Unit::Thread };
    let settings = Settings { goal: Goal::Formula(formula), fairness, buffer: BUFFER };
    let found = decide(&Question { code: &code, options: &options }, &settings, &Control::new());
    found.unwrap_or_else(|fault| panic!("{fault}")).verdict
}

const BLINKS: &str = "global x: i32; global y: i8 = -1; global a: i32[2];
    fn blinks() { loop { store x, 1; store x, 0; } }
    fn says() { store y, 2; }
    fn main() { spawn blinks(); spawn says(); }";

#[test]
fn programs_keep_or_break_formulas() {
    for (formula, holds) in [
        ("G F x", true),
        ("G F !x", true),
        ("F G x", false),
        ("F G y == 2", true),
        ("y == -1 U y == 2", true),
        ("G y == -1", false),
        ("G (x == 1 -> F x == 0)", true),
        ("G (x == 1 -> X x == 0)", false),
        ("y + x * 2 < 5", true),
        ("G y + x * 2 < 4", false),
        ("y < 0 W y == 2", true),
        ("x == 1 R y == -1", false),
        ("a[1] == 0 && !a[0]", true),
        ("F a[1]", false),
    ] {
        match decided(BLINKS, formula, Strength::Weak) {
            Verdict::Holds => assert!(holds, "{formula}"),
            Verdict::Violated(_) => assert!(!holds, "{formula}"),
            other => panic!("{formula}: {other:?}"),
        }
    }
}

#[test]
fn a_run_that_ends_stays_where_it_is() {
    let text = "global x: i32; fn main() { store x, 1; store x, 2; }";
    assert!(matches!(decided(text, "F G x == 2", Strength::Weak), Verdict::Holds));
    let Verdict::Violated(lasso) = decided(text, "G F x == 1", Strength::Weak) else { panic!("it is 1 once") };
    assert_eq!(lasso.stem, lasso.execution.steps.len(), "there is no loop");
}

#[test]
fn what_a_formula_is_about_has_to_be_there() {
    let program = raddle_program::parse("test.rdl", BLINKS, &[]).expect("a program");
    for (formula, at, message) in [
        ("G z == 1", 2, "no global variable `z`"),
        ("F a == 1", 2, "2 elements"),
        ("F a[2] == 1", 2, "2 elements"),
        ("x[0] == 1", 0, "no single value"),
        ("G (x == (F y))", 8, "no value"),
    ] {
        let wrong = Ltl::parse(formula, &program).expect_err(formula);
        assert_eq!(wrong.at, at, "{formula}: {wrong:?}");
        assert!(wrong.message.contains(message), "{formula}: {wrong:?}");
    }
}
