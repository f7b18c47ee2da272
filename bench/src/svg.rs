//! The little of SVG that the plot needs.

use std::fmt::Write;

/// A picture in the making.
#[derive(Debug)]
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// An empty picture, on white so that it can be read on any page.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        Svg { text }
    }

    /// A line through points.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], colour: &str, width: f64) {
        let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(&format!(
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" points=\"{}\"/>",
            places.join(" ")
        ));
    }

    /// A point.
    pub(crate) fn dot(&mut self, x: f64, y: f64, colour: &str) {
        self.push(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>"));
    }

    /// A word; the anchor is `start`, `middle` or `end`.
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: &str, words: &str) {
        let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.push(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"));
    }

    /// The picture.
    pub(crate) fn finish(mut self) -> String {
        self.push("</svg>");
        self.text
    }

    fn push(&mut self, element: &str) {
        writeln!(self.text, "{element}").expect("a string takes everything");
    }
}
