//! The text with other orderings.
//!
//! In `.rdl` an operation stands where its span says: its suffix is replaced. In C the operations of a line are the calls of `<stdatomic.h>` and of the builtins `__atomic_...` that begin on it; their last argument (the
//! last two of a compare-exchange) is replaced, or added to a call that has none. What is hidden in a macro or is no call (`x = 1` of an atomic object) cannot be edited, and the report says so.

use super::sites::{Kind, Site};
use raddle_program::Ordering;

/// How an ordering is written in C.
pub(crate) fn in_c(order: Ordering) -> &'static str {
    match order {
        Ordering::NonAtomic | Ordering::Relaxed => "memory_order_relaxed",
        Ordering::Acquire => "memory_order_acquire",
        Ordering::Release => "memory_order_release",
        Ordering::AcqRel => "memory_order_acq_rel",
        Ordering::SeqCst => "memory_order_seq_cst",
    }
}

/// The number that compilers give it.
fn number_in_c(order: Ordering) -> &'static str {
    match order {
        Ordering::NonAtomic | Ordering::Relaxed => "0",
        Ordering::Acquire => "2",
        Ordering::Release => "3",
        Ordering::AcqRel => "4",
        Ordering::SeqCst => "5",
    }
}

/// A file with changes, line by line.
pub(crate) struct Draft<'t> {
    /// Without their ends, of which a carriage return is none.
    lines: Vec<&'t str>,
    /// The last line has no end.
    open: bool,
    /// What stands in place of a line: nothing, itself or something else, and possibly a line more.
    changed: Vec<Option<Vec<String>>>,
}

impl<'t> Draft<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut lines: Vec<&str> = text.split('\n').collect();
        let open = lines.pop_if(|last| last.is_empty()).is_none();
        Draft { changed: vec![None; lines.len()], lines, open }
    }

    /// Adds a line before a line (from 0) that is not the first, as far to the right as that one.
    pub(crate) fn insert_before(&mut self, at: usize, text: &str) {
        let line = self.lines[at];
        let is_apart = |line: &str| line.trim().is_empty() || line.trim_start().starts_with(['#', '}']);
        // Beside what closes a block or is for the preprocessor it stands as the statement before does.
        let before = self.lines[..at].iter().rev().find(|line| !is_apart(line)).filter(|_| is_apart(line));
        let deeper = if before.is_some_and(|before| before.trim_end().ends_with('{')) { "    " } else { "" };
        let shape = before.copied().unwrap_or(line);
        let indent: String = shape.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        let end = if line.ends_with('\r') { "\r" } else { "" };
        self.add(at - 1, format!("{indent}{deeper}{text}{end}"));
    }

    fn now(&self, at: usize) -> Option<String> {
        match self.changed.get(at)? {
            None => Some((*self.lines.get(at)?).to_owned()),
            Some(lines) => lines.first().cloned(),
        }
    }

    /// Changes the first of the lines that stand in place of a line.
    fn set(&mut self, at: usize, line: Option<String>) {
        let more = self.changed[at].take().map_or_else(Vec::new, |lines| lines.into_iter().skip(1).collect());
        self.changed[at] = Some(line.into_iter().chain(more).collect());
    }

    /// Adds a line behind a line.
    fn add(&mut self, at: usize, line: String) {
        let mut lines = self.changed[at].take().unwrap_or_else(|| vec![self.lines[at].to_owned()]);
        lines.push(line);
        self.changed[at] = Some(lines);
    }

    /// Gives a site of `.rdl` its new ordering; `false` if the text there is not understood.
    pub(crate) fn rdl(&mut self, site: &Site, order: Ordering, failure: Option<Ordering>) -> bool {
        let at = site.span.line as usize - 1;
        let Some(line) = self.now(at) else { return false };
        if site.kind == Kind::Added {
            return self.add_fence(at, &line, &format!("fence.{order};"));
        }
        let words: &[&str] = match site.kind {
            Kind::Fence => &["fence"],
            Kind::Load => &["load"],
            Kind::Store => &["store"],
            _ => &["rmw", "cas"],
        };
        // The span is that of the statement, which has one operation.
        let from = byte_at(self.lines[at], site.span.column).min(line.len());
        let begins = |word: &&str| {
            line.get(from..)?
                .match_indices(*word)
                .map(|(found, _)| from + found)
                .find(|&found| is_word(&line, found, word.len()))
        };
        let Some((word, start)) = words.iter().find_map(|word| Some((*word, begins(word)?))) else { return false };
        let mut end = start + word.len();
        if word == "rmw" {
            end += line[end..].chars().take_while(|c| *c == '.').count();
            end += line[end..].chars().take_while(|c| c.is_alphanumeric()).count();
        }
        let mut suffix = line[end..].chars().take_while(|c| *c == '.' || c.is_alphanumeric()).count();
        if !line[end..].starts_with('.') {
            suffix = 0;
        }
        if word == "fence" && order == Ordering::Relaxed {
            return self.remove(at, &line);
        }
        let failure = failure.map_or(String::new(), |failure| format!(".{failure}"));
        let written = if order == Ordering::Relaxed && word != "fence" && failure.is_empty() {
            String::new()
        } else {
            format!(".{order}")
        };
        let new = format!("{}{written}{failure}{}", &line[..end], &line[end + suffix..]);
        self.set(at, Some(new));
        true
    }

    /// Gives the operations of a kind on a line of C their new ordering; `false` if there is none that can be edited.
    pub(crate) fn c(&mut self, site: &Site, order: Ordering, failure: Option<Ordering>) -> bool {
        let at = site.span.line as usize - 1;
        let Some(line) = self.now(at) else { return false };
        if site.kind == Kind::Added {
            return self.add_fence(at, &line, &format!("atomic_thread_fence({});", in_c(order)));
        }
        if site.kind == Kind::Fence
            && order == Ordering::Relaxed
            && line.trim().starts_with("atomic_thread_fence")
            && line.trim().ends_with(';')
            && line.matches(';').count() == 1
        {
            return self.remove(at, &line);
        }
        let Some(new) = calls_changed(&line, site.kind, order, failure) else { return false };
        self.set(at, Some(new));
        true
    }

    fn add_fence(&mut self, at: usize, line: &str, fence: &str) -> bool {
        if !line.trim_end().ends_with(';') || line.trim_start().starts_with("for") {
            return false;
        }
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        self.add(at, indent + fence);
        true
    }

    /// Takes a line out that has one statement.
    fn remove(&mut self, at: usize, line: &str) -> bool {
        if line.matches(';').count() != 1 || line.contains(['{', '}']) {
            return false;
        }
        self.set(at, None);
        true
    }

    /// The whole text as it is now.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for (line, changed) in self.lines.iter().zip(&self.changed) {
            match changed {
                None => out.push_str(&format!("{line}\n")),
                Some(lines) => lines.iter().for_each(|line| out.push_str(&format!("{line}\n"))),
            }
        }
        out
    }

    /// The changes as a unified diff, with three lines around them.
    pub(crate) fn diff(&self, name: &str) -> String {
        const AROUND: usize = 3;
        let touched: Vec<usize> = (0..self.lines.len()).filter(|&at| self.differs(at)).collect();
        if touched.is_empty() {
            return String::new();
        }
        let mut out = format!("--- {name}\n+++ {name}\n");
        let (mut next, mut shift) = (0, 0i64);
        while let Some(&first) = touched.get(next) {
            // What is added stands behind its line. With more lines before than behind, patch(1) takes a hunk for one at the end of a file.
            let from = (first + usize::from(self.keeps(first))).saturating_sub(AROUND);
            let mut to = (first + AROUND + 1).min(self.lines.len());
            next += 1;
            while let Some(&another) = touched.get(next)
                && another <= to + AROUND
            {
                to = (another + AROUND + 1).min(self.lines.len());
                next += 1;
            }
            let (mut body, mut new) = (String::new(), 0);
            for at in from..to {
                if self.differs(at) {
                    let (lines, kept) = (self.changed[at].as_ref().expect("it differs"), self.keeps(at));
                    body += &format!("{}{}\n", if kept { ' ' } else { '-' }, self.lines[at]);
                    lines.iter().skip(usize::from(kept)).for_each(|line| body += &format!("+{line}\n"));
                    new += lines.len();
                } else {
                    body += &format!(" {}\n", self.lines[at]);
                    new += 1;
                }
                if self.open && at + 1 == self.lines.len() {
                    body += "\\ No newline at end of file\n";
                }
            }
            out += &format!("@@ -{},{} +{},{new} @@\n{body}", from + 1, to - from, from as i64 + 1 + shift);
            shift += new as i64 - (to - from) as i64;
        }
        out
    }

    /// Whether a line that differs stays, with others behind it.
    fn keeps(&self, at: usize) -> bool {
        self.changed[at].as_ref().is_some_and(|lines| lines.first().is_some_and(|line| line == self.lines[at]))
    }

    fn differs(&self, at: usize) -> bool {
        self.changed[at].as_ref().is_some_and(|lines| lines.len() != 1 || lines[0] != self.lines[at])
    }
}

/// The byte of a column, from 1.
fn byte_at(line: &str, column: u32) -> usize {
    line.char_indices().nth(column.saturating_sub(1) as usize).map_or(line.len(), |(at, _)| at)
}

/// Whether what stands there is no part of a longer name.
fn is_word(text: &str, at: usize, len: usize) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].ends_with(in_name) && !text[at + len..].starts_with(in_name)
}

/// The kind of a call, and whether it is given an ordering.
fn call(name: &str) -> Option<(Kind, bool)> {
    let (base, explicit) = match (name.strip_suffix("_explicit"), name.strip_prefix("__atomic_")) {
        (Some(base), _) => (base.strip_prefix("atomic_")?, true),
        (None, Some(base)) => (base.strip_suffix("_n").unwrap_or(base), true),
        (None, None) => (name.strip_prefix("atomic_")?, false),
    };
    let kind = match base {
        "load" => Kind::Load,
        "store" | "flag_clear" | "clear" => Kind::Store,
        "thread_fence" => return Some((Kind::Fence, true)),
        "exchange"
        | "flag_test_and_set"
        | "test_and_set"
        | "compare_exchange"
        | "compare_exchange_strong"
        | "compare_exchange_weak" => Kind::Update,
        other if other.starts_with("fetch_") || other.ends_with("_fetch") => Kind::Update,
        _ => return None,
    };
    Some((kind, explicit))
}

/// The line with this ordering in the calls of this kind; `None` if there is none, or one that goes on in the next line.
fn calls_changed(line: &str, kind: Kind, order: Ordering, failure: Option<Ordering>) -> Option<String> {
    let (mut out, mut at, mut found) = (String::new(), 0, false);
    while at < line.len() {
        let rest = &line[at..];
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if word == 0 {
            let c = rest.chars().next()?;
            out.push(c);
            at += c.len_utf8();
            continue;
        }
        let name = &rest[..word];
        at += word;
        let known = call(name).filter(|(known, _)| *known == kind && line[at..].trim_start().starts_with('('));
        let Some((_, explicit)) = known else {
            out.push_str(name);
            continue;
        };
        let open = at + line[at..].find('(')?;
        let close = closing(line, open)?;
        let mut arguments: Vec<String> = split(&line[open + 1..close]);
        // Calls inside of arguments change as well.
        for argument in &mut arguments {
            if let Some(changed) = calls_changed(argument, kind, order, failure) {
                *argument = changed;
            }
        }
        let exchange = name.contains("compare_exchange");
        // A text that gives a number has been preprocessed, and may have no words for it.
        let numeric = explicit && arguments.last().is_some_and(|last| last.trim().parse::<u8>().is_ok());
        if explicit {
            arguments.truncate(arguments.len().checked_sub(1 + usize::from(exchange))?);
        }
        let builtin = name.starts_with("__atomic_");
        let word = |order| {
            if numeric {
                number_in_c(order).to_owned()
            } else if builtin {
                in_c(order).to_ascii_uppercase().replace("MEMORY_ORDER_", "__ATOMIC_")
            } else {
                in_c(order).to_owned()
            }
        };
        let blank = if arguments.is_empty() { "" } else { " " };
        arguments.push(format!("{blank}{}", word(order)));
        if exchange {
            arguments.push(format!(" {}", word(failure?)));
        }
        let suffix = if explicit { "" } else { "_explicit" };
        out += &format!("{name}{suffix}({})", arguments.join(","));
        at = close + 1;
        found = true;
    }
    found.then_some(out)
}

/// The bracket that closes the one at `open`.
fn closing(line: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in line[open..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at);
        }
    }
    None
}

/// Arguments at commas that stand in no bracket.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one").push(c);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_get_their_orderings() {
        let changed = |line: &str, kind, order, failure| calls_changed(line, kind, order, failure);
        let (acq, rel, sc) = (Ordering::Acquire, Ordering::Release, Ordering::SeqCst);
        let told = |line: Option<&str>| line.map(str::to_owned);
        assert_eq!(
            changed("  r = atomic_load_explicit(&x, memory_order_relaxed);", Kind::Load, acq, None),
            told(Some("  r = atomic_load_explicit(&x, memory_order_acquire);"))
        );
        assert_eq!(
            changed("if (atomic_load(&a[f(1, 2)])) {", Kind::Load, acq, None),
            told(Some("if (atomic_load_explicit(&a[f(1, 2)], memory_order_acquire)) {"))
        );
        assert_eq!(
            changed("__atomic_store_n(&x, __atomic_load_n(&y, 0), __ATOMIC_RELAXED);", Kind::Store, rel, None),
            told(Some("__atomic_store_n(&x, __atomic_load_n(&y, 0), __ATOMIC_RELEASE);"))
        );
        assert_eq!(
            changed("atomic_compare_exchange_weak(&x, &e, 1)", Kind::Update, sc, Some(acq)),
            told(Some("atomic_compare_exchange_weak_explicit(&x, &e, 1, memory_order_seq_cst, memory_order_acquire)"))
        );
        assert_eq!(changed("x = 1; my_atomic_load(y);", Kind::Load, acq, None), None);
        assert_eq!(changed("atomic_load_explicit(&x,", Kind::Load, acq, None), None);
    }

    #[test]
    fn diffs_are_unified() {
        let text = "a\nb\nc\nd\ne\nf\n";
        let mut draft = Draft::new(text);
        draft.set(1, Some("B".into()));
        draft.set(3, None);
        draft.add(5, "g".into());
        assert_eq!(draft.text(), "a\nB\nc\ne\nf\ng\n");
        let expected = "--- f\n+++ f\n@@ -1,6 +1,6 @@\n a\n-b\n+B\n c\n-d\n e\n f\n+g\n";
        assert_eq!(draft.diff("f"), expected);
        assert_eq!(Draft::new(text).diff("f"), "");
        // As many lines before what is added as behind it.
        let mut draft = Draft::new("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        draft.add(4, "new".into());
        assert_eq!(draft.diff("f"), "--- f\n+++ f\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n");
    }
}
