//! Text in a fixed number of terminal cells.

use crate::wording::HARD_BLANK;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many terminal cells the text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text without anything a terminal would act upon: inputs are not trusted with escape sequences.
pub fn clean(text: &str) -> String {
    let visible = |c: char| match c {
        '\t' => ' ',
        c if is_harmful(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(visible).collect()
}

/// Whether a terminal may do anything but show it: control characters, ends of lines, and marks that reorder the text around them.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text, cut off with an ellipsis if it needs more than `limit` cells.
pub(crate) fn elide(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > limit {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    if limit > 0 {
        out.push('…');
    }
    out
}

/// The text and as many blanks as it takes to fill `cells`.
pub(crate) fn pad(text: &str, cells: usize) -> String {
    let blanks = cells.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The text in lines of at most `limit` cells, broken at blanks where there are some (not at [`HARD_BLANK`]s, which become
/// blanks). Lines after the first are indented by two. At least one line.
pub(crate) fn wrap(text: &str, limit: usize) -> Vec<String> {
    const INDENT: &str = "  ";
    let limit = limit.max(INDENT.len() + 2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for mut word in text.split(' ').filter(|word| !word.is_empty()) {
        loop {
            let blank = usize::from(!line.trim_start().is_empty());
            if width(&line) + blank + width(word) <= limit {
                line.push_str(&" ".repeat(blank));
                line.push_str(word);
                break;
            }
            if blank == 0 {
                // A word longer than a line is cut.
                let room = limit - width(&line);
                let cut = cut_at(word, room);
                line.push_str(&word[..cut]);
                word = &word[cut..];
            }
            lines.push(std::mem::replace(&mut line, INDENT.to_owned()));
        }
    }
    if !line.trim().is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines.into_iter().map(|line| line.replace(HARD_BLANK, " ")).collect()
}

/// After how many bytes the text fills `room` cells; at least one character.
fn cut_at(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_fit_and_lose_no_word() {
        assert_eq!(wrap("x = 1 reaches memory (step\u{a0}12)", 14), ["x = 1 reaches", "  memory", "  (step 12)"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("abcdefghij", 6), ["abcdef", "  ghij"]);
    }

    #[test]
    fn elided_text_says_so() {
        assert_eq!(elide("store x, 1", 10), "store x, 1");
        assert_eq!(elide("store x, 1", 7), "store…");
        assert_eq!(elide("日本語", 4), "日…");
    }

    #[test]
    fn escape_sequences_do_not_get_through() {
        assert_eq!(clean("a\u{1b}[31mb\tc\u{202e}"), "a\u{fffd}[31mb c\u{fffd}");
    }
}
