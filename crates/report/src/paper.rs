//! Text for a person, as it is being written.
//!
//! Names, values and messages come from inputs, and inputs are not trusted with what a terminal acts upon. So words get onto a
//! [`Paper`] only through [`Paper::say`] and [`Paper::paint`], which clean them, ends of lines included: lines and colours are made
//! here and nowhere else. What is wrong with an input is set by [`crate::excerpt`], which cleans what it is given itself.

use crate::answer::Sources;
use crate::excerpt::Problem;
use crate::style::Style;
use crate::text::clean;
use std::fmt::Display;

/// How to lay out.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Cells in a line of the terminal.
    pub width: usize,
    /// Leave nothing out.
    pub full: bool,
}

/// A text that grows line by line.
#[derive(Debug)]
pub(crate) struct Paper {
    out: String,
    /// Where the current line begins.
    line: usize,
    layout: Layout,
}

impl Paper {
    pub(crate) fn new(layout: Layout) -> Self {
        Paper { out: String::new(), line: 0, layout }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Goes on with the line.
    pub(crate) fn say(&mut self, words: impl AsRef<str>) -> &mut Self {
        self.out += &clean(words.as_ref());
        self
    }

    /// Goes on with the line in a colour.
    pub(crate) fn paint(&mut self, style: Style, words: impl Display) -> &mut Self {
        self.out += &format!("{style}{}{style:#}", clean(&words.to_string()));
        self
    }

    /// Ends the line.
    pub(crate) fn end(&mut self) -> &mut Self {
        self.out.truncate(self.line + self.out[self.line..].trim_end_matches(' ').len());
        self.out.push('\n');
        self.line = self.out.len();
        self
    }

    /// Writes what is wrong, with an excerpt of the text that it is about.
    pub(crate) fn problem(&mut self, problem: &Problem, sources: &Sources) -> &mut Self {
        self.out += &problem.render(sources, self.layout.width);
        self.line = self.out.len();
        self
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::BAD;

    #[test]
    fn whatever_is_said_stays_on_its_line_and_has_no_effect_on_the_terminal() {
        let mut paper = Paper::new(Layout { width: 80, full: false });
        paper.say("a\u{1b}[2J\nholds: ").paint(BAD, "\u{9b}31mred\r").end().say("  ").end();
        let text = anstream::adapter::strip_str(&paper.finish()).to_string();
        assert_eq!(text, "a\u{fffd}[2J\u{fffd}holds: \u{fffd}31mred\u{fffd}\n\n");
    }
}
