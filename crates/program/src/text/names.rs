//! Keywords, and guesses at what a misspelt name was meant to be.

use super::lexer::is_plain;
use crate::float::{FloatBin, FloatCast, FloatUn};
use crate::types::Type;

/// Words that are no names unless they stand between backticks.
pub(super) const KEYWORDS: [&str; 77] = [
    "alloc",
    "assert",
    "assume",
    "atomic",
    "atomic_begin",
    "atomic_end",
    "barrier_init",
    "barrier_wait",
    "break",
    "broadcast",
    "call",
    "cas",
    "choose",
    "const",
    "continue",
    "default",
    "destroy",
    "destroy_wide",
    "do",
    "else",
    "entry",
    "error",
    "exit",
    "false",
    "fence",
    "fn",
    "for",
    "free",
    "global",
    "goto",
    "if",
    "in",
    "join",
    "let",
    "load",
    "lock",
    "loop",
    "looper",
    "null",
    "pack",
    "param",
    "post",
    "print",
    "rdlock",
    "return",
    "rmw",
    "rwunlock",
    "scoped",
    "sem_post",
    "sem_trywait",
    "sem_wait",
    "sext",
    "signal",
    "spawn",
    "spin",
    "splice",
    "store",
    "switch",
    "thread_exit",
    "thread_id",
    "thread_local",
    "true",
    "trunc",
    "trylock",
    "tryrdlock",
    "trywrlock",
    "unless",
    "unlock",
    "unpack",
    "unreachable",
    "until",
    "var",
    "wait",
    "while",
    "wrlock",
    "zeroed",
    "zext",
];

/// Whether the word has a meaning of its own.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok() || Type::ALL.iter().any(|ty| ty.name() == word) || is_float_word(word)
}

/// Whether the word is an operator on floating-point numbers.
pub(super) fn is_float_word(word: &str) -> bool {
    FloatUn::named(word).is_some() || FloatBin::named(word).is_some() || FloatCast::named(word).is_some()
}

/// The name as it is written: between backticks if it must be.
pub(super) fn written(name: &str) -> String {
    if is_plain(name) && !is_keyword(name) {
        return name.to_owned();
    }
    let mut out = String::from("`");
    escape(name, '`', &mut out);
    out.push('`');
    out
}

/// Appends `text` with everything escaped that cannot stand between `quote`s, or that a terminal would act upon: control characters, ends of lines, marks
/// that reorder the text around them.
pub(super) fn escape(text: &str, quote: char, out: &mut String) {
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
}

/// The candidate nearest to `word`, if one is near enough to be meant.
pub(super) fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if word.len() > 64 {
        return None;
    }
    let limit = (word.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word && candidate.len().abs_diff(word.len()) <= limit)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= limit && distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + same);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_so_that_they_are_found() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        assert_eq!(did_you_mean("stroe", KEYWORDS), Some("store"));
        assert_eq!(did_you_mean("cuonter", ["counter", "x"]), Some("counter"));
        assert_eq!(did_you_mean("y", ["x"]), None);
        assert_eq!(did_you_mean("flag", ["turn"]), None);
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(written("x.3"), "x.3");
        assert_eq!(written("s.next"), "s.next");
        assert_eq!(written("lock"), "`lock`");
        assert_eq!(written("load.acq"), "`load.acq`");
        assert_eq!(written("a b`"), "`a b\\``");
        assert_eq!(written(""), "``");
    }
}
