//! Values of options: lengths of time, amounts of memory, switches.

use raddle::consistency::mailbox::Mailbox;
use raddle::engine::switches;
use raddle::program::analysis::{LoopPlace, NamedBound};
use raddle::report::robust::Purpose;
use raddle::{ENGINES, Engine};
use std::ops::RangeInclusive;
use std::time::Duration;

/// The name of an engine.
pub(crate) fn engine(name: &str) -> Result<&'static dyn Engine, String> {
    ENGINES.find(name)
}

/// The help of `--engine`.
pub(crate) fn engines() -> String {
    let lines = ENGINES.iter().map(|engine| format!("\n- {}: {}", engine.name(), engine.summary()));
    format!("The engine:{}", lines.collect::<String>())
}

/// The help of `--engine-option`.
pub(crate) fn switches() -> String {
    let lines = switches::help(ENGINES.iter());
    format!("Set a switch of the engine:{}", lines.lines().map(|line| format!("\n- {line}")).collect::<String>())
}

/// `for=robustness` or `for=safety`.
pub(crate) fn purpose(text: &str) -> Result<Purpose, String> {
    match text {
        "for=robustness" => Ok(Purpose::Robustness),
        "for=safety" => Ok(Purpose::Safety),
        _ => Err("fences are for=robustness or for=safety".to_owned()),
    }
}

/// `queue`, or `ui=queue` for the handler `ui`.
pub(crate) fn mailbox(text: &str) -> Result<(Option<String>, Mailbox), String> {
    match text.rsplit_once('=') {
        Some((handler, kind)) => Ok((Some(handler.to_owned()), kind.parse()?)),
        None => Ok((None, text.parse()?)),
    }
}

/// `90`, `10s`, `5m`, `1.5h`, `500ms`; a bare number is in seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let scale = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a time looks like 90, 10s, 5m, 1.5h or 500ms".into()),
    };
    let seconds = number.parse::<f64>().map_err(|_| "a time looks like 90, 10s, 5m, 1.5h or 500ms")? * scale;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// A bound for loops: for every one, or for those at a place.
#[derive(Clone, Debug)]
pub(crate) enum LoopBound {
    Every(u32),
    Named(NamedBound),
}

/// `3`, `queue.c:42=3`, `push=3`.
pub(crate) fn loop_bound(text: &str) -> Result<LoopBound, String> {
    const SHAPE: &str = "a bound looks like 3, file.c:42=3 or function=3";
    let turns = |text: &str| text.parse::<u32>().map_err(|_| SHAPE.to_owned());
    let Some((place, bound)) = text.rsplit_once('=') else { return Ok(LoopBound::Every(turns(text)?)) };
    let place = match place.rsplit_once(':') {
        Some((file, line)) => LoopPlace::Line(file.to_owned(), line.parse().map_err(|_| SHAPE)?),
        None => LoopPlace::Function(place.to_owned()),
    };
    Ok(LoopBound::Named(NamedBound { place, turns: turns(bound)? }))
}

/// `4GiB`, `512M`, `100k`; a bare number is in bytes. The units are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    const SHAPE: &str = "an amount of memory looks like 4GiB, 512M or 1000000";
    let (number, unit) = split(text);
    let unit = unit.to_ascii_lowercase();
    let unit = unit.trim_end_matches('b').trim_end_matches('i');
    let power = match unit {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(SHAPE.into()),
    };
    let amount = number.parse::<f64>().map_err(|_| SHAPE)? * 1024f64.powi(power);
    if amount.is_finite() && (1.0..u64::MAX as f64).contains(&amount) { Ok(amount as u64) } else { Err(SHAPE.into()) }
}

/// `0..3`, both ends included.
pub(crate) fn range(text: &str) -> Result<RangeInclusive<i64>, String> {
    let shape = || "a range looks like 0..3, both ends included".to_owned();
    let (low, high) = text.split_once("..").ok_or_else(shape)?;
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| shape());
    let range = number(low)?..=number(high.trim_start_matches('='))?;
    if range.is_empty() { Err("the range is empty".into()) } else { Ok(range) }
}

fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let millis = |text| duration(text).map(|time| time.as_millis()).ok();
        assert_eq!(millis("10s"), Some(10_000));
        assert_eq!(millis("1.5m"), Some(90_000));
        assert_eq!(millis("2 h"), Some(7_200_000));
        assert_eq!(millis("250ms"), Some(250));
        assert_eq!(millis("7"), Some(7_000));
        for bad in ["", "s", "-1", "1d", "1e999", "99999999999999999999999", "1.2.3"] {
            assert_eq!(millis(bad), None, "{bad}");
        }
    }

    #[test]
    fn ranges_include_both_ends() {
        assert_eq!(range("-1..3"), Ok(-1..=3));
        assert_eq!(range("0..=0"), Ok(0..=0));
        for bad in ["", "3", "3..1", "a..b", "1.."] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn amounts_have_units() {
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("512M"), Ok(512 << 20));
        assert_eq!(bytes("1 kb"), Ok(1024));
        assert_eq!(bytes("100"), Ok(100));
        for bad in ["", "0", "GiB", "1x", "-1", "1e30", "99999999T"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
