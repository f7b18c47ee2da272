//! The monitors: time against the number of operations, and what grows like n log n.

use super::generate::{container, damage, line, simulate};
use super::{Made, Table, seconds, timed};
use crate::failure::Failure;
use crate::table::thousands;
use raddle::cost::Meter;
use raddle::linear::check::Config;
use raddle::linear::decide::{self, Settings};
use raddle::linear::format::write::json_lines;
use raddle::linear::monitor::stack::StackAlgorithm;
use raddle::linear::object::ObjectKind;
use raddle::linear::stream::StreamVerdict;
use raddle::linear::value::Values;
use raddle::linear::verdict::Verdict;

const KINDS: [ObjectKind; 4] = [ObjectKind::Queue, ObjectKind::Set, ObjectKind::Multiset, ObjectKind::Stack];
const THREADS: [usize; 5] = [4, 8, 16, 32, 64];

/// Growth, the published size, and violations.
///
/// # Errors
/// If a verdict is wrong.
pub(super) fn monitors(max: u32, quick: bool, show: &mut impl FnMut(Table)) -> Result<(), Failure> {
    for kind in KINDS {
        show(growth(kind, if quick { 4 } else { max })?);
    }
    show(published(quick)?);
    show(violations(if quick { 10_000 } else { 1_000_000 })?);
    Ok(())
}

fn growth(kind: ObjectKind, max: u32) -> Result<Table, Failure> {
    let title = format!("{kind}: CPU seconds to check n operations and to check the linearization again");
    let mut table = Table::new(&title, "n|4 threads|8|16|32|64");
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); THREADS.len()];
    for power in 3..=max {
        let count = 10usize.pow(power);
        let mut cells = vec![thousands(count as u64)];
        for (column, threads) in THREADS.into_iter().enumerate() {
            let history = container(kind, count, threads);
            let (time, report) = timed(&kind.to_string(), &history, &Config::new(kind), Made::Linearizable)?;
            if matches!(report.verdict, Verdict::Unknown(_)) {
                return Err(Failure::History { what: kind.to_string(), found: "no verdict".into() });
            }
            points[column].push((history.ops.len() as f64, time));
            cells.push(seconds(time));
        }
        table.lines.push(cells);
    }
    // The smallest histories are over before the clock has said anything.
    let fits: Vec<Fit> = points.iter().map(|points| Fit::new(&points[1..])).collect();
    let mut row = |name: &str, cell: fn(&Fit) -> String| {
        table.lines.push([name.to_owned()].into_iter().chain(fits.iter().map(cell)).collect());
    };
    row("c, ns", |fit| format!("{:.1}", fit.scale * 1e9));
    row("off by at most", |fit| format!("×{:.2}", fit.worst));
    row("e", |fit| format!("{:.2}", fit.exponent));
    Ok(table)
}

/// How times fit n log n.
struct Fit {
    /// The c of time = c n log2 n that fits best.
    scale: f64,
    /// The largest factor between a time and the fit.
    worst: f64,
    /// The e of time = c n^e that fits best.
    exponent: f64,
}

impl Fit {
    fn new(points: &[(f64, f64)]) -> Fit {
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
        let ratios: Vec<f64> = points.iter().map(|(n, time)| (time.max(1e-9) / (n * n.log2())).ln()).collect();
        let scale = mean(&ratios);
        let worst = ratios.iter().map(|ratio| (ratio - scale).abs()).fold(0.0, f64::max);
        let x: Vec<f64> = points.iter().map(|(n, _)| n.ln()).collect();
        let y: Vec<f64> = points.iter().map(|(_, time)| time.max(1e-9).ln()).collect();
        let (middle, height) = (mean(&x), mean(&y));
        let together: f64 = x.iter().zip(&y).map(|(x, y)| (x - middle) * (y - height)).sum();
        let spread: f64 = x.iter().map(|x| (x - middle).powi(2)).sum();
        Fit {
            scale: scale.exp(),
            worst: worst.exp(),
            exponent: if spread > 0.0 { together / spread } else { f64::NAN },
        }
    }
}

fn published(quick: bool) -> Result<Table, Failure> {
    let title =
        "stack, five pushes to four pops, 8 threads: CPU seconds (the largest published case has 10,000 pushes)";
    let mut table = Table::new(title, "n|near-linear|quadratic");
    let sizes: &[usize] = if quick { &[1_800] } else { &[1_800, 18_000, 180_000, 1_800_000] };
    for &count in sizes {
        let history = simulate(&mut line(true, 56), Values::default(), count, 8, 9);
        let config = Config::new(ObjectKind::Stack);
        let (fast, _) = timed("stack", &history, &config, Made::Linearizable)?;
        let slow = if count <= 18_000 {
            let config = Config { stack: StackAlgorithm::Quadratic, ..config };
            seconds(timed("stack", &history, &config, Made::Linearizable)?.0)
        } else {
            "-".to_owned()
        };
        table.lines.push(vec![thousands(count as u64), seconds(fast), slow]);
    }
    Ok(table)
}

fn violations(count: usize) -> Result<Table, Failure> {
    let title = format!(
        "{} operations, 8 threads, wrong in the middle: CPU seconds with the explanation",
        thousands(count as u64)
    );
    let mut table = Table::new(&title, "object|seconds|operations shown");
    for kind in KINDS {
        let mut history = container(kind, count, 8);
        damage(&mut history, kind);
        let (time, report) = timed(&kind.to_string(), &history, &Config::new(kind), Made::Wrong)?;
        let shown = match &report.verdict {
            Verdict::Violated(explanation) => explanation.ops.len().to_string(),
            _ => "-".to_owned(),
        };
        table.lines.push(vec![kind.to_string(), seconds(time), shown]);
    }
    Ok(table)
}

/// From JSON lines to the verdict, whole and as a stream.
///
/// # Errors
/// If a verdict is wrong.
pub(super) fn reading(quick: bool) -> Result<Table, Failure> {
    let count = if quick { 10_000 } else { 1_000_000 };
    let title =
        format!("from JSON lines to the verdict, {} operations, 8 threads: CPU seconds", thousands(count as u64));
    let mut table = Table::new(&title, "object|MB|whole|stream");
    for kind in KINDS {
        let history = container(kind, count, 8);
        let mut bytes = Vec::new();
        json_lines(&history, kind, &mut bytes)?;
        let read = |stream: bool| {
            let settings = Settings { object: Some(kind), ..Settings::default() };
            let meter = Meter::start();
            let holds = if stream {
                decide::watch(&bytes[..], &settings).map(|streamed| streamed.verdict == StreamVerdict::Holds)
            } else {
                decide::decide(&bytes[..], &settings).map(|decided| matches!(decided.report.verdict, Verdict::Holds(_)))
            };
            let time = meter.read().cpu_seconds;
            let failure = |found: String| Failure::History { what: kind.to_string(), found };
            match holds {
                Ok(true) => Ok(seconds(time)),
                Ok(false) => Err(failure("no linearization".to_owned())),
                Err(error) => Err(failure(error.to_string())),
            }
        };
        table.lines.push(vec![kind.to_string(), (bytes.len() / 1_000_000).to_string(), read(false)?, read(true)?]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::Fit;

    #[test]
    fn what_grows_like_n_log_n_fits() {
        let points: Vec<(f64, f64)> = [1e3f64, 1e4, 1e5].iter().map(|&n| (n, 5e-9 * n * n.log2())).collect();
        let fit = Fit::new(&points);
        assert!((fit.scale * 1e9 - 5.0).abs() < 1e-6 && fit.worst < 1.000_001, "{} {}", fit.scale, fit.worst);
        let square: Vec<(f64, f64)> = [1e3f64, 1e4, 1e5].iter().map(|&n| (n, 1e-9 * n * n)).collect();
        let fit = Fit::new(&square);
        assert!((fit.exponent - 2.0).abs() < 1e-6 && fit.worst > 2.0, "{} {}", fit.exponent, fit.worst);
    }
}
