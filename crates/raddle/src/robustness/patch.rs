//! Fences as an edit of the text: a unified diff that has been applied, read and checked again.
//!
//! Which question: before which lines does a full fence have to stand? A line can take one if a statement ends before it and the text with a fence there is the same program but for that fence. So that
//! every such line can be tried without reading the program again, a fence that means nothing under TSO is put before each of them; the search for the cheapest sets may use these and no other places. What it finds is
//! put into the text as it was, which is read and checked once more as a program of its own.
//!
//! Only the file that was named is edited, not what it includes.

use super::Goal;
use crate::answer::Question;
use crate::error::Error;
use crate::load::{Language, load_edited};
use crate::prepare::prepare;
use crate::strengthen::edit::Draft;
use raddle_engine::{Deadline, Question as Asked, StopReason};
use raddle_machine::Code;
use raddle_program::{Op, Program};
use raddle_reach::robust::fences::{Fences, Found, Sites, Tried, fences, fences_for_safety, safe};
use raddle_reach::robust::{Settings, robust};
use raddle_report::robust::Spot;
use raddle_trace::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Patched {
    /// The fences of the patch, each before its line.
    pub(super) spots: Vec<Spot>,
    /// The patch; empty if no fence is needed.
    pub(super) diff: String,
    /// How many sets of fences were tried.
    pub(super) tried: u64,
    /// Why there is no patch.
    pub(super) why_not: Option<String>,
}

impl Patched {
    fn without(why: impl Into<String>, tried: u64) -> Self {
        Patched { why_not: Some(why.into()), tried, ..Patched::default() }
    }
}

/// How fences are written in a text: one that means nothing under TSO, and a full one.
fn words(language: Language, text: &str) -> (&'static str, &'static str) {
    match language {
        Language::C if text.contains("stdatomic.h") => {
            ("atomic_thread_fence(memory_order_acquire);", "atomic_thread_fence(memory_order_seq_cst);")
        }
        Language::C => ("__atomic_thread_fence(__ATOMIC_ACQUIRE);", "__atomic_thread_fence(__ATOMIC_SEQ_CST);"),
        _ => ("fence.acq;", "fence.sc;"),
    }
}

/// The cheapest fences at lines of the text, and the patch that puts them there.
pub(super) fn patch(
    question: &Question<'_>,
    goal: &Goal,
    settings: Settings,
    deadline: &Deadline<'_>,
) -> Result<Patched, Error> {
    let path = Path::new(question.file);
    let language = match Language::of(path) {
        Some(language @ (Language::C | Language::Rdl)) => language,
        _ => return Ok(Patched::without("only .rdl and C programs are patched", 0)),
    };
    let Some(number) = file_named(&question.loaded.program, question.file) else {
        return Ok(Patched::without("the text of the file is not there", 0));
    };
    let text = &*question.loaded.program.sources.files[number].text;
    let (nothing, full) = words(language, text);
    let trial = Trial { question, text, number, nothing };
    let gaps = trial.usable(trial.candidates());
    let Some(marked) = trial.with_marks(&gaps) else {
        return Ok(Patched::without("no line of the text can take a fence", 0));
    };
    let code = prepare(&marked, None);
    let groups = trial.marks(&code, &marked, &gaps);
    let sites = Sites::at(&code, groups.values().cloned());
    let found = search(&sites, &code, goal, settings, deadline)?;
    let tried = found.tried as u64;
    let Some(cheapest) = found.sets.first() else {
        let why = match found.stop {
            Some(stop) => stop.to_string(),
            None => "no fences before lines of this file are enough".to_owned(),
        };
        return Ok(Patched::without(why, tried));
    };
    let chosen: Vec<u32> = groups
        .iter()
        .filter(|(_, group)| group.iter().any(|pc| cheapest.contains(pc)))
        .map(|(&line, _)| line)
        .collect();
    if chosen.is_empty() {
        return Ok(Patched { tried, ..Patched::default() });
    }
    let draft = trial.draft(&chosen, full);
    let again = load_edited(path, &draft.text(), question.load)?;
    if let Some(why) = check(&prepare(&again.program, None), goal, settings, deadline)? {
        return Ok(Patched::without(format!("the edited text was checked again: {why}"), tried));
    }
    let lines: Vec<&str> = text.lines().collect();
    let spot = |&line: &u32| {
        let text = lines.get(line as usize - 1).map_or("", |text| text.trim());
        Spot::new(&Place { file: question.file.into(), line, column: 1, text: text.into() }, Some(full))
    };
    Ok(Patched { spots: chosen.iter().map(spot).collect(), diff: draft.diff(&name(path)), tried, why_not: None })
}

/// The file as a patch names it: from the current directory.
fn name(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let from_here = here.and_then(|here| path.strip_prefix(here).ok());
    let plain = from_here.unwrap_or(path);
    plain.strip_prefix(".").unwrap_or(plain).display().to_string()
}

fn search(
    sites: &Sites<'_>,
    code: &Code,
    goal: &Goal,
    settings: Settings,
    deadline: &Deadline<'_>,
) -> Result<Found, Error> {
    Ok(match goal {
        Goal::Robustness => {
            let first = robust(code, &BTreeSet::new(), settings, deadline)?;
            fences(sites, &first, settings, deadline)?
        }
        Goal::Safety(options) => fences_for_safety(sites, &Asked { code, options }, deadline)?,
    })
}

/// What is wrong with the program after the edit.
fn check(code: &Code, goal: &Goal, settings: Settings, deadline: &Deadline<'_>) -> Result<Option<String>, Error> {
    let stopped = |stop: Option<StopReason>| stop.map(|stop| stop.to_string());
    Ok(match goal {
        Goal::Robustness => {
            let found = robust(code, &BTreeSet::new(), settings, deadline)?;
            if found.witnesses.is_empty() { stopped(found.stop) } else { Some("it is not robust".into()) }
        }
        Goal::Safety(options) => match safe(&Asked { code, options }, &Fences::new(), deadline)? {
            Tried::Enough => None,
            Tried::Passed(_) => Some("a property is violated under tso".into()),
            Tried::Stopped(stop) => stopped(Some(stop)),
        },
    })
}

fn file_named(program: &Program, name: &str) -> Option<usize> {
    program.sources.files.iter().position(|file| *file.name == *name && !file.text.is_empty())
}

/// A text and the lines before which a fence might stand.
struct Trial<'t> {
    question: &'t Question<'t>,
    text: &'t str,
    /// Which of the program's files it is.
    number: usize,
    /// A fence that means nothing.
    nothing: &'static str,
}

impl Trial<'_> {
    /// Lines before and behind those that do something, as far as a statement ends before them.
    fn candidates(&self) -> BTreeSet<u32> {
        let spans = self
            .question
            .loaded
            .program
            .functions
            .iter()
            .flat_map(|function| function.blocks.iter().flat_map(|block| block.insts.iter().map(|inst| inst.span)));
        let own = spans.filter(|span| span.file as usize == self.number && span.line > 0);
        let plain = without_comments(self.text);
        let next = |mut line: u32| {
            while plain.get(line as usize - 1).is_some_and(|text| text.trim().is_empty()) {
                line += 1;
            }
            line
        };
        let lines: BTreeSet<u32> = own.flat_map(|span| [span.line, span.line + 1]).map(next).collect();
        lines.into_iter().filter(|&line| ends_before(&plain, line as usize - 1)).collect()
    }

    /// The text with a fence before each of these lines.
    fn draft(&self, lines: &[u32], fence: &str) -> Draft<'_> {
        let mut draft = Draft::new(self.text);
        lines.iter().for_each(|&line| draft.insert_before(line as usize - 1, fence));
        draft
    }

    /// The program with fences that mean nothing before these lines, if it is the same but for them.
    fn with_marks(&self, lines: &BTreeSet<u32>) -> Option<Program> {
        let lines: Vec<u32> = lines.iter().copied().collect();
        let draft = self.draft(&lines, self.nothing);
        let edited = load_edited(Path::new(self.question.file), &draft.text(), self.question.load).ok()?.program;
        let number = edited.sources.files.iter().position(|file| *file.text == draft.text())?;
        let mut plain = edited.clone();
        let mut seen = BTreeSet::new();
        for block in plain.functions.iter_mut().flat_map(|function| &mut function.blocks) {
            block.insts.retain(|inst| {
                let mark = matches!(inst.op, Op::Fence { .. }) && inst.span.file as usize == number;
                let mark = mark.then(|| of_mark(&lines, inst.span.line)).flatten();
                seen.extend(mark);
                mark.is_none()
            });
        }
        let same = raddle_program::print(&plain) == raddle_program::print(&self.question.loaded.program);
        (same && seen.len() == lines.len() && !lines.is_empty()).then_some(edited)
    }

    /// Those of the lines that can take a fence.
    fn usable(&self, lines: BTreeSet<u32>) -> BTreeSet<u32> {
        if self.with_marks(&lines).is_some() {
            return lines;
        }
        lines.into_iter().filter(|&line| self.with_marks(&BTreeSet::from([line])).is_some()).collect()
    }

    /// The instructions of the fences that were put before these lines, by line.
    fn marks(&self, code: &Code, marked: &Program, lines: &BTreeSet<u32>) -> BTreeMap<u32, Fences> {
        let lines: Vec<u32> = lines.iter().copied().collect();
        let text = self.draft(&lines, self.nothing).text();
        let number = marked.sources.files.iter().position(|file| *file.text == text);
        let mut groups: BTreeMap<u32, Fences> = BTreeMap::new();
        for pc in code.fences().filter(|&pc| Some(code.span(pc).file as usize) == number) {
            if let Some(line) = of_mark(&lines, code.span(pc).line) {
                groups.entry(line).or_default().insert(pc);
            }
        }
        groups
    }
}

/// The line before which the fence stands that is this line of the edited text.
fn of_mark(lines: &[u32], line: u32) -> Option<u32> {
    (0..).zip(lines).find(|&(before, &own)| own + before == line).map(|(_, &own)| own)
}

/// Whether a statement ends before this line (from 0), and none goes on with it.
fn ends_before(plain: &[String], at: usize) -> bool {
    let Some(here) = plain.get(at) else { return false };
    let goes_on = here.trim_start().starts_with("else");
    let before =
        plain[..at].iter().rev().map(|line| line.trim()).find(|line| !line.is_empty() && !line.starts_with('#'));
    !goes_on && before.is_some_and(|line| line.ends_with([';', '{', '}', ':']))
}

/// The lines of a text without comments.
fn without_comments(text: &str) -> Vec<String> {
    let (mut plain, mut rest, mut quote) = (String::new(), text, None);
    while let Some(c) = rest.chars().next() {
        let taken = match quote {
            Some(_) if c == '\\' => rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at),
            Some(end) => {
                quote = quote.filter(|_| c != end && c != '\n');
                c.len_utf8()
            }
            None if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            None if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map_or(rest.len(), |at| at + 4);
                plain.extend(rest[..end].chars().filter(|&c| c == '\n'));
                rest = &rest[end..];
                continue;
            }
            None => {
                quote = matches!(c, '"' | '\'').then_some(c);
                c.len_utf8()
            }
        };
        plain.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    plain.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_lines_stay() {
        let text = "a; // b\nc /* d\n e */ f;\n\"// no\" '\\'' '\"' // g\nh \"\\\\\" // i";
        assert_eq!(without_comments(text), ["a; ", "c ", " f;", "\"// no\" '\\'' '\"' ", "h \"\\\\\" "]);
    }

    #[test]
    fn a_fence_stands_between_statements() {
        let plain: Vec<String> =
            ["if (x)", "    y();", "else {", "    f(a,", "      b);", "#ifdef Z", "    g();", "#endif", "}"]
                .map(str::to_owned)
                .into();
        let lines: Vec<usize> = (0..plain.len()).filter(|&at| ends_before(&plain, at)).collect();
        assert_eq!(lines, [3, 5, 6, 7, 8]);
    }
}
