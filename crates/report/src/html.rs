//! Pages: one self-contained file with a heading, a sentence, and a picture that a script draws. Nothing is loaded from elsewhere.
//!
//! All pages share one shell, `page.html`: the colours, light and dark, the heading, and a script that finds what it draws in `data`. What came from an input is
//! cleaned and quoted here: it can end neither an element nor the script.

use crate::text::clean;
use serde::Serialize;

const SHELL: &str = include_str!("page.html");

/// What a kind of picture adds to the shell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picture<'a> {
    /// Style sheet.
    pub(crate) style: &'a str,
    /// Buttons under the heading.
    pub(crate) tools: &'a str,
    /// Elements to draw in.
    pub(crate) body: &'a str,
    /// What draws; `data` is what it is given.
    pub(crate) script: &'a str,
}

/// The page with this heading, this sentence under it, and this picture of the data.
pub(crate) fn page(title: &str, text: &str, picture: Picture<'_>, data: &impl Serialize) -> String {
    fill(&[
        ("@TITLE@", element(title)),
        ("@TEXT@", element(text)),
        ("@STYLE@", picture.style.to_owned()),
        ("@TOOLS@", picture.tools.to_owned()),
        ("@BODY@", picture.body.to_owned()),
        ("@DATA@", script(data)),
        ("@SCRIPT@", picture.script.to_owned()),
    ])
}

/// Text that may stand inside an element.
pub(crate) fn element(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// JSON that may stand inside a script.
fn script(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).expect("no map with keys that are not strings, no number out of range");
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// The shell with its marks filled in; what is filled in is not searched for marks.
fn fill(parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = SHELL;
    while let Some((at, mark, content)) =
        parts.iter().filter_map(|(mark, content)| Some((rest.find(mark)?, mark, content))).min_by_key(|(at, ..)| *at)
    {
        page.push_str(&rest[..at]);
        page.push_str(content);
        rest = &rest[at + mark.len()..];
    }
    page + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Picture<'_> = Picture { style: "", tools: "", body: "", script: "" };

    #[test]
    fn what_came_from_an_input_is_neither_markup_nor_script() {
        let evil = "</script><b>@DATA@\u{1b}[2J\u{2028}";
        let page = page(evil, evil, EMPTY, &[evil]);
        assert_eq!(page.matches("</script>").count(), 1, "{page}");
        assert!(!page.contains("<b>") && !page.contains(['\u{1b}', '\u{2028}']), "{page}");
        assert!(page.contains("&lt;b&gt;@DATA@"), "what is filled in is not filled in again: {page}");
    }

    /// A name such as `top` cannot be declared at the top of a script: the whole page would stay empty.
    #[test]
    fn the_script_declares_nothing_at_its_top() {
        let script = SHELL.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).expect("a script");
        let code: Vec<&str> = script.lines().filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
        assert_eq!(code, ["\"use strict\";", "{", "const data = @DATA@;", "@SCRIPT@}"]);
    }
}
