//! How numbers grow: one panel per input, one line per method, a logarithmic scale.

use crate::svg::Svg;

/// What grows, drawn by method.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// What it is about.
    pub(crate) title: String,
    /// What grows along it.
    pub(crate) parameter: String,
    /// Per method, the same in all panels, where it is and how high, as far as it came.
    pub(crate) series: Vec<(&'static str, Vec<(i64, u64)>)>,
}

/// Colours that people with any kind of colour vision tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

const COLUMNS: usize = 3;
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 34.0;
const LEGEND: f64 = 30.0;

/// The picture of all panels.
pub(crate) fn draw(panels: &[Panel]) -> String {
    let rows = panels.len().div_ceil(COLUMNS);
    let mut svg = Svg::new(WIDTH * COLUMNS as f64, LEGEND + HEIGHT * rows as f64);
    let names = panels.first().into_iter().flat_map(|panel| &panel.series);
    for (at, (name, _)) in names.enumerate() {
        let x = LEFT + 110.0 * at as f64;
        svg.line(&[(x, LEGEND / 2.0), (x + 24.0, LEGEND / 2.0)], colour(at), 2.0);
        svg.text(x + 30.0, LEGEND / 2.0 + 4.0, "start", name);
    }
    for (at, panel) in panels.iter().enumerate() {
        let (column, row) = (at % COLUMNS, at / COLUMNS);
        draw_panel(&mut svg, panel, WIDTH * column as f64, LEGEND + HEIGHT * row as f64);
    }
    svg.finish()
}

fn colour(at: usize) -> &'static str {
    COLOURS[at % COLOURS.len()]
}

fn draw_panel(svg: &mut Svg, panel: &Panel, left: f64, top: f64) {
    let points = || panel.series.iter().flat_map(|(_, points)| points);
    let (Some(first), Some(last)) = (points().map(|p| p.0).min(), points().map(|p| p.0).max()) else { return };
    let most = points().map(|p| p.1).max().unwrap_or(1).max(10);
    let decades = (most as f64).log10().ceil();
    let x = |value: i64| {
        let share = if last == first { 0.5 } else { (value - first) as f64 / (last - first) as f64 };
        left + LEFT + share * (WIDTH - LEFT - RIGHT)
    };
    let y = |height: f64| top + HEIGHT - BOTTOM - height.max(1.0).log10() / decades * (HEIGHT - TOP - BOTTOM);
    svg.text(left + LEFT, top + 16.0, "start", &panel.title);
    let mut exponent = 0;
    while f64::from(exponent) <= decades {
        let at = y(10f64.powi(exponent));
        svg.line(&[(x(first), at), (left + WIDTH - RIGHT, at)], "#dddddd", 1.0);
        let label = if exponent == 0 { "1".to_owned() } else { format!("1e{exponent}") };
        svg.text(left + LEFT - 6.0, at + 4.0, "end", &label);
        exponent += if decades > 6.0 { 2 } else { 1 };
    }
    let middle = left + LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    for value in [first, last] {
        svg.text(x(value), top + HEIGHT - BOTTOM + 16.0, "middle", &value.to_string());
    }
    svg.text(middle, top + HEIGHT - BOTTOM + 16.0, "middle", &panel.parameter);
    for (at, (_, points)) in panel.series.iter().enumerate() {
        let places: Vec<(f64, f64)> = points.iter().map(|&(value, height)| (x(value), y(height as f64))).collect();
        svg.line(&places, colour(at), 2.0);
        for &(cx, cy) in &places {
            svg.dot(cx, cy, colour(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_is_drawn_with_a_line_for_each_series() {
        let series = vec![("optimal", vec![(1, 1), (2, 4), (3, 36)]), ("rf", vec![(1, 1), (2, 3)])];
        let panel = Panel { title: "a<b".to_owned(), parameter: "N".to_owned(), series };
        let picture = draw(&[panel]);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
        assert_eq!(picture.matches("<circle").count(), 5);
        assert!(picture.contains(">a&lt;b</text>"), "{picture}");
    }

    #[test]
    fn a_panel_without_points_leaves_its_place_empty() {
        let panel = Panel { title: "p".to_owned(), parameter: "N".to_owned(), series: vec![("optimal", Vec::new())] };
        assert!(!draw(&[panel]).contains("<circle"));
    }
}
