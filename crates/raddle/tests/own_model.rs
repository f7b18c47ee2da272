//! The model of one's own that docs/linear.md shows: it compiles, and what comes out is what the text says.

use raddle::linear::history::Ts;
use raddle::linear::search::Entry;
use raddle::report::Layout;

// docs: begin
use raddle::linear::recorder::Calls;
use raddle::linear::search::{Budget, Model};
use raddle::report::Answer;
use raddle::{Called, lin_model};
use std::sync::Mutex;

/// A bag that gives back any of the numbers that were put into it.
#[derive(Debug)]
struct Bag;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Put(i64),
    Take,
}

impl Model for Bag {
    type State = Vec<i64>;
    type Call = Call;
    type Ret = Option<i64>;

    fn initial(&self) -> Vec<i64> {
        Vec::new()
    }

    fn step(&self, state: &Vec<i64>, call: &Call, ret: Option<&Option<i64>>) -> Vec<Vec<i64>> {
        let without = |at: usize| state.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, x)| *x).collect();
        match (call, ret) {
            (Call::Put(value), _) => {
                let mut after: Vec<i64> = state.iter().copied().chain([*value]).collect();
                after.sort_unstable();
                vec![after]
            }
            (Call::Take, Some(None)) => {
                if state.is_empty() {
                    vec![Vec::new()]
                } else {
                    Vec::new()
                }
            }
            // A call that never returned may have taken anything.
            (Call::Take, taken) => (0..state.len())
                .filter(|&at| taken.is_none_or(|value| *value == Some(state[at])))
                .map(without)
                .collect(),
        }
    }
}

/// Two threads on a bag that is locked, and whether what they saw is what a bag does.
fn recorded() -> Answer {
    let (bag, calls) = (Mutex::new(Vec::new()), Calls::new());
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (bag, calls) = (&bag, &calls);
            scope.spawn(move || {
                let mut record = calls.thread();
                for value in 10 * thread..10 * thread + 10 {
                    record.call(Call::Put(value), || {
                        bag.lock().expect("nobody panics").push(value);
                        None
                    });
                    record.call(Call::Take, || bag.lock().expect("nobody panics").pop());
                }
            });
        }
    });
    let history: Vec<Called<Bag>> = calls.into_calls().into_iter().map(Called::from).collect();
    lin_model("bag", &Bag, &history, Budget::default()).expect("an answer")
}
// docs: end

const LAYOUT: Layout = Layout { width: 100, full: false };

fn called(process: u32, call: Call, ret: Option<i64>, start: u32, end: u32) -> Called<Bag> {
    Called { process, entry: Entry { call, ret: Some(ret), start: Ts(start), end: Ts(end) } }
}

#[test]
fn a_model_of_ones_own_gets_text_json_and_a_picture() {
    let history = [
        called(0, Call::Put(1), None, 0, 1),
        called(1, Call::Put(2), None, 2, 3),
        called(0, Call::Take, Some(1), 4, 6),
        called(1, Call::Take, Some(1), 5, 7),
        called(1, Call::Take, None, 8, 9),
    ];
    let answer = lin_model("bag", &Bag, &history, Budget::default()).expect("an answer");
    let text = answer.text(LAYOUT);
    assert!(text.contains("not linearizable"), "{text}");
    assert!(text.contains("the history is wrong from event 7 on; before it was not"), "{text}");
    assert!(answer.json().contains("\"verdict\":\"violated\""), "{}", answer.json());
    assert!(answer.html().is_some_and(|page| page.contains("Take = Some(1)")));
    let answer = lin_model("bag", &Bag, &history[..3], Budget::default()).expect("an answer");
    assert!(answer.text(LAYOUT).contains("holds"), "{}", answer.text(LAYOUT));
}

#[test]
fn what_is_recorded_of_any_methods_is_checked() {
    let text = recorded().text(LAYOUT);
    assert!(text.contains("holds") && text.contains("40 operations"), "{text}");
}

#[test]
fn the_book_shows_this_model() {
    let (book, here) = (include_str!("../../../docs/linear.md"), include_str!("own_model.rs"));
    let from = here.find("// docs: begin\n").expect("a beginning") + "// docs: begin\n".len();
    let to = here.find("// docs: end\n").expect("an end");
    assert!(book.contains(&here[from..to]), "docs/linear.md does not show the model of tests/own_model.rs");
}
