//! Short names for the objects of a run.
//!
//! The machine names what a thread has made by who made it and as how many-th, which is the same in every execution: `node#T1.3->next`, `heap#T0.2[1]`, `buf@push#T2.0` (a local variable of `push`).
//! Whoever reads one run needs less: which of the few objects in it is meant. So here
//!
//! - what was allocated is numbered in the order in which the run mentions it, for each type: `node#1->next`, `node#2`, `heap#1[1]`;
//! - a local variable has the name that the source gives it, `buf`; if the run has another variable of that name, its function too, `buf@push`; and if there are several of that one, in several calls, a number, `buf#2`.
//!
//! Messages are full of the same names, and are gone through as text. Names are looked for in what a run mentions and in what is wrong with it, never in what the program printed.

use raddle_trace::execution::Entry;
use raddle_trace::{Action, Execution};
use std::collections::{BTreeMap, BTreeSet};

/// What the objects of a run are called.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By the name that the machine gives them.
    short: BTreeMap<String, String>,
}

impl Names {
    /// For these texts, in the order in which they are read.
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Names {
        let mut objects: Vec<&str> = Vec::new();
        let mut variables: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for text in texts {
            let mut any = false;
            for (start, end) in mentions(text) {
                any = true;
                let name = &text[start..end];
                if !objects.contains(&name) {
                    objects.push(name);
                }
                let root = root(name);
                if let Some((variable, _)) = root.split_once('@') {
                    variables.entry(variable).or_default().insert(root);
                }
            }
            if !any {
                // A global object, if anything.
                let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
                variables.entry(&text[..end]).or_default().insert("");
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        objects.iter().for_each(|name| *counts.entry(root(name)).or_default() += 1);
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let short = objects.iter().map(|&name| {
            let root = root(name);
            let number = numbers.entry(root).or_default();
            *number += 1;
            let short = match root.split_once('@') {
                None => format!("{root}#{number}"),
                Some((variable, _)) => {
                    let shown = if variables[variable].len() > 1 { root } else { variable };
                    if counts[root] > 1 { format!("{shown}#{number}") } else { shown.to_owned() }
                }
            };
            (name.to_owned(), short)
        });
        Names { short: short.collect() }
    }

    /// The text with the short names.
    fn shorten(&self, text: &mut String) {
        let mut short = String::new();
        let mut rest = 0;
        for (start, end) in mentions(text) {
            if let Some(name) = self.short.get(&text[start..end]) {
                short.push_str(&text[rest..start]);
                short.push_str(name);
                rest = end;
            }
        }
        if rest > 0 {
            short.push_str(&text[rest..]);
            *text = short;
        }
    }
}

/// Gives the objects of the run short names, in these texts about it, too.
pub fn shorten<'a>(execution: &mut Execution, about: impl IntoIterator<Item = &'a mut String>) {
    let mut about: Vec<&mut String> = about.into_iter().collect();
    let pointers = std::mem::take(&mut execution.pointers);
    let names = {
        let mut texts: Vec<&str> = Vec::new();
        let values = |value: i64| pointers.get(&value).map(String::as_str);
        for step in &execution.steps {
            match step {
                Entry::Event { event, .. } => match &event.action {
                    Action::Read { location, value, .. } | Action::Write { location, value, .. } => {
                        texts.push(location);
                        texts.extend(values(*value));
                    }
                    Action::Update { location, old, new, .. } => {
                        texts.push(location);
                        texts.extend(values(*old).into_iter().chain(values(*new)));
                    }
                    action => texts.extend(action.location()),
                },
                Entry::Flush { location, .. } => texts.push(location),
                Entry::Failure { message, .. } => texts.push(message),
            }
        }
        Names::of(texts.into_iter().chain(about.iter().map(|text| text.as_str())))
    };
    let shortened = |mut text: String| {
        names.shorten(&mut text);
        text
    };
    execution.pointers = pointers.into_iter().map(|(value, name)| (value, shortened(name))).collect();
    let coherence = std::mem::take(&mut execution.coherence);
    execution.coherence = coherence.into_iter().map(|(location, writes)| (shortened(location), writes)).collect();
    execution.steps.iter_mut().for_each(|step| match step {
        Entry::Event { event, .. } => event.action.location_mut().into_iter().for_each(|text| names.shorten(text)),
        Entry::Flush { location, .. } => names.shorten(location),
        Entry::Failure { message, .. } => names.shorten(message),
    });
    about.iter_mut().for_each(|text| names.shorten(text));
}

/// The same in a text without a run.
pub fn shortened(mut text: String) -> String {
    Names::of(std::iter::once(text.as_str())).shorten(&mut text);
    text
}

/// The name without who made it.
fn root(name: &str) -> &str {
    name.split_once('#').map_or(name, |(root, _)| root)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Where the names of objects stand that a thread has made: `word#T1.2`, `word@word#T1.2`.
fn mentions(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    text.match_indices("#T").filter_map(|(at, _)| {
        let behind = |from: usize| {
            let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
            (digits > 0).then_some(from + digits)
        };
        // The path of the thread and the number of the object: at least two numbers.
        let mut end = behind(at + 2)?;
        let first = end;
        while text[end..].starts_with('.')
            && let Some(further) = behind(end + 1)
        {
            end = further;
        }
        let word = |end: usize| {
            text[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8))
        };
        let mut start = word(at);
        if start > 1 && start < at && text[..start].ends_with('@') && word(start - 1) < start - 1 {
            start = word(start - 1);
        }
        (end > first && start < at).then_some((start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::{Names, shortened};

    fn all(texts: &[&str]) -> Vec<String> {
        let names = Names::of(texts.iter().copied());
        let short = texts.iter().map(|text| {
            let mut text = (*text).to_owned();
            names.shorten(&mut text);
            text
        });
        short.collect()
    }

    #[test]
    fn what_was_allocated_is_numbered_as_it_is_mentioned() {
        let met = all(&["node#T2.1->next", "heap#T0.3[4]", "&node#T1.1.0->value", "node#T2.1", "heap#T0.3+8"]);
        assert_eq!(met, ["node#1->next", "heap#1[4]", "&node#2->value", "node#1", "heap#1+8"]);
        let message = "the life of node#T2.1 ends while node#T2.10 is 0.5 old";
        assert_eq!(shortened(message.into()), "the life of node#1 ends while node#2 is 0.5 old");
    }

    #[test]
    fn a_variable_has_the_name_that_the_source_gives_it_as_long_as_that_is_one() {
        assert_eq!(all(&["me@push#T1.0.next", "x"]), ["me.next", "x"]);
        assert_eq!(all(&["me@push#T1.0.next", "me@push#T2.0"]), ["me#1.next", "me#2"]);
        assert_eq!(all(&["me@push#T1.0", "me@pop#T2.0"]), ["me@push", "me@pop"]);
        assert_eq!(all(&["me@push#T1.0", "me.next"]), ["me@push", "me.next"]);
        assert_eq!(all(&["read of x@main#T0.4, which was never written"]), ["read of x, which was never written"]);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["#T1.0", "a#T1", "errno@T1", "a #T1.2 b", "ask me@home", "x#Ty.1", "@f#T", "ö#T", "a@#T"] {
            assert_eq!(shortened(text.into()), text);
        }
        assert_eq!(shortened("größe@f#T0.1 = 1".into()), "größe = 1");
    }
}
