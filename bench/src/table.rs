//! The tables, in Markdown.

use crate::measure::{Parallel, Row};
use crate::memory::Point;

/// The table of rates.
pub(crate) fn rates(rows: &[Row]) -> String {
    let head = "program|model|executions|events|steps|CPU ms|per CPU second|GenMC|×|Nidhugg|×";
    let mut head: Vec<String> = head.split('|').map(str::to_owned).collect();
    if let Some(Parallel { workers, .. }) = rows.iter().find_map(|row| row.parallel) {
        head.push(format!("{workers} workers, wall ×"));
        head.push("CPU ×".to_owned());
    }
    let lines = rows.iter().map(|row| {
        let mut cells = vec![
            row.program.clone(),
            row.model.to_owned(),
            executions(row),
            row.events.to_string(),
            rounded(row.steps as f64 / (row.executions + row.failed + row.blocked) as f64),
            format!("{:.2}", row.cpu_seconds * 1000.0),
            rounded(row.rate),
        ];
        for peer in [row.genmc_rate, row.nidhugg_rate] {
            cells.push(peer.map_or_else(dash, rounded));
            cells.push(peer.map_or_else(dash, |peer| rounded(row.rate / peer)));
        }
        if let Some(Parallel { speedup, work, .. }) = row.parallel {
            cells.extend([format!("{speedup:.2}"), format!("{work:.2}")]);
        }
        cells
    });
    markdown(&head, &lines.collect::<Vec<_>>(), 2)
}

/// The table of memory.
pub(crate) fn memory(points: &[Point]) -> String {
    let head = ["program", "executions", "peak memory, MiB"].map(str::to_owned);
    let lines = points.iter().map(|point| {
        let mebibytes = |bytes: u64| format!("{:.2}", bytes as f64 / f64::from(1 << 20));
        vec![
            format!("readers({})", point.readers),
            thousands(point.executions),
            point.peak_memory_bytes.map_or_else(dash, mebibytes),
        ]
    });
    markdown(&head, &lines.collect::<Vec<_>>(), 1)
}

fn executions(row: &Row) -> String {
    let mut text = thousands(row.executions);
    for (count, what) in [(row.failed, "failed"), (row.blocked, "blocked")] {
        if count > 0 {
            text += &format!(" + {} {what}", thousands(count));
        }
    }
    text
}

pub(crate) fn dash() -> String {
    "-".to_owned()
}

/// Two significant digits below 10, three from there on.
pub(crate) fn rounded(number: f64) -> String {
    if !number.is_finite() {
        return dash();
    }
    if number < 10.0 {
        return format!("{number:.1}");
    }
    let unit = 10f64.powi(number.log10().floor() as i32 - 2).max(1.0);
    thousands(((number / unit).round() * unit) as u64)
}

/// A number with commas.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A table whose first columns, `left` of them, are aligned to the left and the others to the right.
pub(crate) fn markdown(head: &[String], lines: &[Vec<String>], left: usize) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| &line[column]).chain([&head[column]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(2)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < left { format!(" {cell:<width$} |") } else { format!(" {cell:>width$} |") }
        });
        format!("|{}\n", padded.collect::<String>())
    };
    let rule = widths.iter().enumerate().map(|(column, &width)| {
        if column < left { format!("{}|", "-".repeat(width + 2)) } else { format!("{}:|", "-".repeat(width + 1)) }
    });
    let rule = format!("|{}\n", rule.collect::<String>());
    line(head) + &rule + &lines.iter().map(|cells| line(cells)).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        let cases = [(0.0, "0.0"), (5.64, "5.6"), (12.4, "12"), (999.6, "1,000"), (1_234_567.0, "1,230,000")];
        for (number, text) in cases {
            assert_eq!(rounded(number), text);
        }
        assert_eq!(rounded(f64::INFINITY), "-");
        assert_eq!(thousands(1_000_000), "1,000,000");
    }

    #[test]
    fn columns_line_up() {
        let text = markdown(&["a".into(), "number".into()], &[vec!["long".into(), "7".into()]], 1);
        assert_eq!(text, "| a    | number |\n|------|-------:|\n| long |      7 |\n");
    }
}
