//! The table of engines, and the page of the book that it is on.

use super::cell::Cell;
use super::{Line, engines};
use crate::plot::Panel;
use crate::table::{dash, markdown, rounded, thousands};
use raddle::Engine;
use std::time::Duration;

/// One line per program and model: classes and rate of each engine, and what a class costs compared with the first engine.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut head = vec!["program".to_owned(), "model".to_owned()];
    for engine in engines().map(Engine::name) {
        head.extend([format!("{engine}: classes"), "per CPU s".to_owned()]);
    }
    for engine in engines().map(Engine::name).skip(1) {
        head.push(format!("cost of {engine}, ×"));
    }
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    markdown(&head, &rows, 2)
}

fn row(line: &Line) -> Vec<String> {
    let mut cells = vec![line.program.clone(), line.model.to_owned()];
    for cell in &line.cells {
        let (classes, rate) = match cell {
            Cell::Done(explored) => (classes(explored.classes, explored.blocked), rounded(1.0 / explored.cost())),
            Cell::Limit(explored) => (format!("> {}", thousands(explored.classes)), rounded(1.0 / explored.cost())),
            Cell::Refused { .. } => (dash(), dash()),
        };
        cells.extend([classes, rate]);
    }
    let (first, others) = line.cells.split_first().expect("there is an engine");
    cells.extend(others.iter().map(|cell| match (first.done(), cell.done()) {
        (Some(base), Some(explored)) => format!("{:.2}", explored.cost() / base.cost()),
        _ => dash(),
    }));
    cells
}

fn classes(complete: u64, blocked: u64) -> String {
    match blocked {
        0 => thousands(complete),
        _ => format!("{} + {} blocked", thousands(complete), thousands(blocked)),
    }
}

/// On programs where two engines have the same number of classes: how much more a class costs, as the geometric mean and the
/// greatest, and on how many lines.
fn same_classes(lines: &[Line], at: usize) -> Option<(f64, f64, usize)> {
    let ratios: Vec<f64> = lines
        .iter()
        .filter_map(|line| Some((line.cells.first()?.done()?, line.cells.get(at)?.done()?)))
        .filter(|(base, other)| base.classes == other.classes && base.classes >= 100)
        .map(|(base, other)| other.cost() / base.cost())
        .collect();
    let greatest = ratios.iter().copied().reduce(f64::max)?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    Some((mean, greatest, ratios.len()))
}

/// The page of the book.
pub(crate) fn page(lines: &[Line], panels: &[Panel], limit: Duration) -> String {
    let mut ratios = String::new();
    for (at, engine) in engines().map(Engine::name).enumerate().skip(1) {
        if let Some((mean, greatest, number)) = same_classes(lines, at) {
            ratios += &format!(
                "- Where `{engine}` has as many classes as `optimal`, and at least 100 ({number} lines), a class costs it {mean:.2}\n  \
                 times as much in the geometric mean, and {greatest:.2} times at most.\n"
            );
        }
    }
    let names: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
    format!(
        "# Engines side by side\n\n\
         The programs of `bench/programs`, explored by every engine. This page and its plot are written by\n\n\
         ```text\ncargo run --release -p raddle-bench -- engines --doc --limit {}\n```\n\n\
         with a limit of so many seconds for each program, model and engine. `> N`: so many classes were explored when it was\n\
         reached. A dash: the engine does not take the program or the model. *Per CPU s* counts executions of all kinds.\n\
         *Cost* is CPU time per execution, divided by that of `optimal`. Times are those of one machine on one day; classes are\n\
         exact, and for small parameters tests hold them against brute force.\n\n\
         {ratios}\n\
         ## Programs on which the equivalences differ\n\n\
         Classes under SC against the parameter, on a logarithmic scale:\n{}.\n\n\
         ![Classes against the parameter](engines.svg)\n\n\
         ## All programs\n\n{}",
        limit.as_secs_f64(),
        names.join(", "),
        table(lines),
    )
}

#[cfg(test)]
mod tests {
    use super::super::cell::Explored;
    use super::*;

    fn explored(classes: u64, cpu_seconds: f64) -> Explored {
        Explored { classes, blocked: 0, others: 0, longest: 9, cpu_seconds }
    }

    fn line(cells: Vec<Cell>) -> Line {
        Line { program: "p(3)".to_owned(), model: "sc", cells }
    }

    #[test]
    fn limits_and_refusals_are_shown() {
        let refused = Cell::Refused { reason: "no".to_owned() };
        let cells = row(&line(vec![Cell::Done(explored(1000, 0.1)), Cell::Limit(explored(50, 1.0)), refused]));
        assert_eq!(cells, ["p(3)", "sc", "1,000", "10,000", "> 50", "50", "-", "-", "-", "-"]);
    }

    #[test]
    fn ratios_are_taken_where_there_are_as_many_classes() {
        let two = |one, other| line(vec![Cell::Done(one), Cell::Done(other)]);
        let lines = [
            two(explored(100, 1.0), explored(100, 2.0)),
            two(explored(100, 1.0), explored(100, 8.0)),
            two(explored(200, 1.0), explored(100, 900.0)),
        ];
        let (mean, greatest, number) = same_classes(&lines, 1).expect("two lines");
        assert!((mean - 4.0).abs() < 1e-9 && (greatest - 8.0).abs() < 1e-9 && number == 2, "{mean} {greatest}");
        assert_eq!(same_classes(&lines[2..], 1), None);
    }
}
