//! Where in a line as it was written does a word of the preprocessed line come from?
//!
//! Words of both lines are followed side by side. Where they part there is the name of a macro, with its arguments if it has some; what comes of it goes on until the words meet again. What a macro has made
//! is pointed at in its arguments, if the word stands there, and else the macro and they.

/// A place in a line: bytes from the first, and how many.
pub(crate) type Part = (usize, usize);

/// How many words in a row say that the lines have met again.
const MEETING: usize = 3;

/// The part of the line `written` from which the word at the byte `at` of `preprocessed` comes, if that can be told.
pub(crate) fn origin(written: &str, preprocessed: &str, at: usize) -> Option<Part> {
    let (left, right) = (words(written), words(preprocessed));
    let (mut i, mut j) = (0, 0);
    let same = |i: usize, j: usize| text(written, left[i]) == text(preprocessed, right[j]);
    while let (Some(&word), Some(&made)) = (left.get(i), right.get(j)) {
        if same(i, j) {
            if made.0 == at {
                return Some(word);
            }
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let behind = arguments(written, &left, i + 1);
        // Where most words in a row are the same, the first such place.
        let alike = |k: usize| {
            (0..MEETING)
                .take_while(|n| behind + n < left.len() && k + n < right.len() && same(behind + n, k + n))
                .count()
        };
        let end = match (j..right.len()).rev().max_by_key(|&k| alike(k)) {
            _ if behind == left.len() => right.len(),
            Some(k) if alike(k) > 0 => k,
            _ => return None,
        };
        if let Some(made) = right[j..end].iter().find(|made| made.0 == at) {
            let given = left[i + 1..behind].iter().find(|given| text(written, **given) == text(preprocessed, *made));
            let (last, len) = left[behind - 1];
            return Some(*given.unwrap_or(&(word.0, last + len - word.0)));
        }
        (i, j) = (behind, end);
    }
    None
}

fn text(line: &str, (start, len): Part) -> &str {
    &line[start..start + len]
}

/// The first word behind the arguments that begin at a word, if they do.
fn arguments(line: &str, words: &[Part], begin: usize) -> usize {
    let mut open = 0;
    for (at, &word) in words.iter().enumerate().skip(begin) {
        match text(line, word) {
            "(" => open += 1,
            ")" if open > 0 => open -= 1,
            _ => {}
        }
        if open == 0 {
            return if at == begin { begin } else { at + 1 };
        }
    }
    // They go on in the next line, or there is nothing.
    words.len()
}

/// Names, numbers, literals and single signs; no spaces, no comments.
fn words(line: &str) -> Vec<Part> {
    let mut words = Vec::new();
    let mut rest = line;
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    while let Some(first) = rest.chars().next() {
        let start = line.len() - rest.len();
        let mut len = match first {
            c if is_name(c) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            quote @ ('"' | '\'') => literal(rest, quote),
            '/' if rest.starts_with("//") => return words,
            '/' if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) => {
                    rest = &rest[end + 2..];
                    continue;
                }
                None => return words,
            },
            c => c.len_utf8(),
        };
        if first.is_whitespace() {
            len = first.len_utf8();
        } else {
            words.push((start, len));
        }
        rest = &rest[len..];
    }
    words
}

/// The length of a literal in these quotes, or of the rest of the line if it does not end there.
fn literal(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is pointed at for the occurrence `nth` of a word in the preprocessed line.
    fn points(written: &str, preprocessed: &str, word: &str, nth: usize) -> Option<String> {
        let at = preprocessed.match_indices(word).nth(nth).expect("it is there").0;
        origin(written, preprocessed, at).map(|(start, len)| format!("{start}:{}", &written[start..start + len]))
    }

    #[test]
    fn what_a_macro_makes_is_at_its_name() {
        let (written, made) = ("  x = 1; CHECK(ok); y = MAX;", "  x = 1; if (!(ok)) fail(); y = 255;");
        assert_eq!(points(written, made, "fail", 0).as_deref(), Some("9:CHECK(ok)"));
        assert_eq!(points(written, made, "ok", 0).as_deref(), Some("15:ok"));
        assert_eq!(points(written, made, "y", 0).as_deref(), Some("20:y"));
        assert_eq!(points(written, made, "255", 0).as_deref(), Some("24:MAX"));
    }

    #[test]
    fn the_same_macro_twice_in_a_line_is_told_apart() {
        let (written, made) = ("GET(a) + GET(b); GET(a)", "load(&a) + load(&b); load(&a)");
        assert_eq!(points(written, made, "load", 0).as_deref(), Some("0:GET(a)"));
        assert_eq!(points(written, made, "load", 1).as_deref(), Some("9:GET(b)"));
        assert_eq!(points(written, made, "load", 2).as_deref(), Some("17:GET(a)"));
        assert_eq!(points(written, made, "a)", 1).as_deref(), Some("21:a"));
    }

    #[test]
    fn arguments_may_go_on_in_the_next_line_and_macros_may_be_empty() {
        assert_eq!(
            points("INLINE f(LOG(\"a(\", x,", "f(print(\"a(\", x, y));", "print", 0).as_deref(),
            Some("9:LOG(\"a(\", x,")
        );
        assert_eq!(points("a /* b */ + b // c", "a + b", "b", 0).as_deref(), Some("12:b"));
    }

    #[test]
    fn any_lines_come_to_an_end() {
        for (written, made) in
            [("", "a"), ("((((", "x"), ("\"open", "y"), ("é(", "ü é"), ("a b c", "d e f"), ("f(", "f((")]
        {
            for (at, _) in made.char_indices() {
                origin(written, made, at);
            }
        }
    }
}
