//! The page of a run: whole, quoted, and with everything that the table, the source and the graph have to show.

mod hand_made;

use hand_made::*;
use raddle_report::{Answer, Body, Counterexample, Replay, Sources};
use raddle_trace::execution::{Entry, Racing};
use raddle_trace::{Action, Event, Execution, Model, Ordering, Property, Scope, Source, Verdict};

fn page(found: Counterexample) -> String {
    answer(Body::Check(check(Verdict::Violated, Scope::AllExecutions, vec![found]))).html().expect("a page")
}

fn ordered(entry: Entry, order: Ordering) -> Entry {
    match entry {
        Entry::Event { event, buffered, printed } => {
            Entry::Event { event: Event { order: Some(order), ..event }, buffered, printed }
        }
        other => other,
    }
}

/// A message through fences that arrives, and an access after it that races.
fn message() -> Counterexample {
    let fence = |order: Ordering| Action::Fence { what: order.name().to_owned() };
    let message = "data race on y: write by T1 (line 9) and read by T2 (line 17) are not ordered";
    let steps = vec![
        spawn(0, 22, 1, "left"),
        spawn(1, 23, 2, "right"),
        ordered(event(1, 0, 6, write("x", 1)), Ordering::NonAtomic),
        ordered(event(1, 1, 7, fence(Ordering::Release)), Ordering::Release),
        ordered(event(1, 2, 8, write("inside", 1)), Ordering::Relaxed),
        ordered(event(1, 3, 9, write("y", 1)), Ordering::NonAtomic),
        ordered(event(2, 0, 14, read("inside", 1, Source::Write(id(1, 2)))), Ordering::Relaxed),
        ordered(event(2, 1, 15, fence(Ordering::Acquire)), Ordering::Acquire),
        ordered(event(2, 2, 16, read("x", 1, Source::Write(id(1, 0)))), Ordering::NonAtomic),
        Entry::Failure {
            thread: Some(thread(2)),
            message: message.into(),
            place: place(17),
            race: Some(Racing { with: id(1, 3), order: Ordering::NonAtomic, from: Some(id(1, 3)) }),
        },
    ];
    let coherence = [("x", vec![id(1, 0)]), ("y", vec![id(1, 3)]), ("inside", vec![id(1, 2)])];
    let execution = Execution {
        model: Model::Rc11,
        steps,
        coherence: coherence.into_iter().map(|(name, writes)| (name.to_owned(), writes)).collect(),
        ..dekker()
    };
    found(execution, Property::Race, message, 17, "0 0 1@0 1 1@0 1@0 2<1.2 2 2<1.0 2<1.3")
}

/// Every element is closed where it should be; what may stand inside of a script or a style sheet is not looked at.
fn assert_whole(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>\n").expect("it says what it is");
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("every mark ends");
        let (mark, after) = (&rest[at + 1..end], &rest[end + 1..]);
        let name = mark.trim_start_matches('/').split([' ', '/', '\n']).next().expect("a name");
        if mark.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{}", &rest[at..(at + 80).min(rest.len())]);
        } else if !mark.ends_with('/') && name != "meta" {
            open.push(name);
        }
        rest = if !mark.starts_with('/') && (name == "script" || name == "style") {
            &after[after.find(&format!("</{name}>")).expect("it ends")..]
        } else {
            after
        };
    }
    assert!(open.is_empty(), "{open:?}");
    for outside in ["http:", "https:", "src=", "href=", "@import", "url(//"] {
        assert!(!page.contains(outside), "nothing is loaded: {outside}");
    }
}

#[test]
fn steps_source_and_graph_are_there() {
    let page = page(dekker_found());
    assert_whole(&page);
    assert!(page.contains("<h1>assert: assertion failed: one thread at a time</h1>"), "{page}");
    // A line per step and a box per event; flushes have no box.
    assert_eq!(page.matches("<tr data-at=").count(), 11);
    assert_eq!(page.matches("<g class=\"node step\"").count(), 8);
    assert_eq!(page.matches("<g class=\"node wrong\"").count(), 1);
    assert!(page.contains("<th>T1 left</th>") && page.contains("x = 1 buffered"), "{page}");
    // The whole source, the lines that ran marked with who ran them.
    assert_eq!(page.matches("<tr data-row=").count(), DEKKER.lines().count());
    assert!(page.contains("class=\"ran\"><td>6</td><td>T1</td><td>    store x, 1;</td>"), "{page}");
    assert!(!page.contains("class=\"ran\"><td>1</td>"), "{page}");
    for relation in ["po", "start", "rf", "co", "fr"] {
        assert!(page.contains(&format!("<path class=\"edge {relation}\"")), "{relation}");
    }
    assert!(page.contains("<li>replay: raddle replay dekker.rdl"), "{page}");
}

#[test]
fn orderings_synchronisation_and_the_race_are_there() {
    let page = page(message());
    assert_whole(&page);
    assert!(page.contains("inside = 1 <small>relaxed</small>") && page.contains("<small>acquire</small>"), "{page}");
    assert!(!page.contains("x = 1 <small>"), "an ordinary access has no ordering");
    for (relation, number) in [("sw", 1), ("hb", 1), ("race", 1), ("rf", 2)] {
        assert_eq!(page.matches(&format!("<path class=\"edge {relation}\"")).count(), number, "{relation}: {page}");
    }
    assert!(page.contains("<li>note: nothing orders them: "), "{page}");
}

#[test]
fn graphs_show_what_happens_before() {
    let graph = raddle_report::dot::execution(&message().execution);
    // Fence to fence; from the write of x to its read; and from the failed access's partner.
    assert!(graph.contains("t1_1 -> t2_1 [label=sw, color=purple"), "{graph}");
    assert!(graph.contains("t1_0 -> t2_2 [label=hb, color=grey40"), "{graph}");
    assert!(graph.contains("t1_3 -> failure_2 [label=race, color=red"), "{graph}");
    assert!(graph.contains("t1_2 -> t2_0 [label=rf, "), "relaxed accesses do not synchronise: {graph}");
}

#[test]
fn a_deadlock_shows_who_waits() {
    let page = page(deadlock());
    assert_whole(&page);
    assert_eq!(page.matches("<tr data-at=\"").count(), 6, "four steps and two that wait");
    assert!(page.contains("waits for the mutex b") && page.contains("waits for the mutex a"), "{page}");
}

#[test]
fn a_run_that_breaks_nothing_has_a_page() {
    let replay = Replay { execution: dekker(), counterexample: None };
    assert_whole(&answer(Body::Replay(replay)).html().expect("a page"));
}

#[test]
fn nothing_from_an_input_becomes_markup_or_script() {
    const EVIL: &str =
        "</script></title></td></text><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u{1b}[2J\u{2028}";
    let mut found = message();
    found.violation.message = EVIL.to_owned();
    found.replay = EVIL.to_owned();
    found.execution.threads = vec![EVIL.to_owned(); 3];
    for step in &mut found.execution.steps {
        match step {
            Entry::Event { event, printed, .. } => {
                event.place.file = EVIL.into();
                event.place.text = EVIL.into();
                printed.push(EVIL.to_owned());
                if let Action::Read { location, what, .. } | Action::Write { location, what, .. } = &mut event.action {
                    location.push_str(EVIL);
                    what.push_str(EVIL);
                }
            }
            Entry::Failure { message, place, .. } => {
                *message = EVIL.to_owned();
                place.file = EVIL.into();
            }
            Entry::Flush { .. } => {}
        }
    }
    let coherence = std::mem::take(&mut found.execution.coherence);
    found.execution.coherence = coherence.into_iter().map(|(name, writes)| (name + EVIL, writes)).collect();
    let body = Body::Check(check(Verdict::Violated, Scope::AllExecutions, vec![found]));
    for sources in [Sources::default(), [(EVIL, format!("{EVIL}\n").repeat(500))].into_iter().collect()] {
        let answer = Answer { file: EVIL.into(), sources, ..answer(body.clone()) };
        let page = answer.html().expect("a page").replace("src=x", "");
        assert_whole(&page);
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(!page.contains("<img") && !page.contains(['\u{1b}', '\u{2028}']), "{page}");
    }
}

#[test]
fn a_long_run_is_cut_at_its_beginning_and_says_so() {
    let mut found = dekker_found();
    let step = event(1, 0, 6, write("x", 1));
    found.execution.steps.splice(2..2, std::iter::repeat_n(step, 5_000));
    let page = page(found);
    assert_whole(&page);
    assert!(page.contains("The first 3,511 steps are left out."), "{}", &page[..2000]);
    assert_eq!(page.matches("<tr data-at=").count(), 1_500);
}
