//! Numbers as people read them.

/// With a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun, in the plural unless it is one.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// With three or so significant digits and a suffix: 950, 12.3k, 1.20M.
pub fn short(number: f64) -> String {
    const SUFFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    let mut scaled = number.max(0.0);
    let mut at = 0;
    while scaled >= 999.5 && at + 1 < SUFFIXES.len() {
        scaled /= 1000.0;
        at += 1;
    }
    match scaled {
        _ if at == 0 => format!("{scaled:.0}"),
        s if s >= 1e6 => format!("{s:.1e}{}", SUFFIXES[at]),
        s if s >= 99.95 => format!("{s:.0}{}", SUFFIXES[at]),
        s if s >= 9.995 => format!("{s:.1}{}", SUFFIXES[at]),
        s => format!("{s:.2}{}", SUFFIXES[at]),
    }
}

/// A length of time: 0.01 s, 12.3 s, 3 min 20 s, 5 h 12 min.
pub fn time(seconds: f64) -> String {
    if seconds < 9.995 {
        return format!("{seconds:.2} s");
    }
    if seconds < 99.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// An amount of memory in powers of 1024: 512 B, 4.2 MiB.
pub fn memory(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = bytes as f64;
    let mut at = 0;
    while scaled >= 1000.0 && at + 1 < UNITS.len() {
        scaled /= 1024.0;
        at += 1;
    }
    if at == 0 || scaled >= 99.95 { format!("{scaled:.0} {}", UNITS[at]) } else { format!("{scaled:.1} {}", UNITS[at]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 999.4, 12_345.0, 1.2e6, 1e18].map(short), ["0", "999", "12.3k", "1.20M", "1000P"]);
        assert_eq!([0.004, 12.34, 200.0, 18_720.0].map(time), ["0.00 s", "12.3 s", "3 min 20 s", "5 h 12 min"]);
        assert_eq!([512, 4_404_019, 1 << 30].map(memory), ["512 B", "4.2 MiB", "1.0 GiB"]);
        assert_eq!([1, 2].map(|n| counted(n, "execution")), ["1 execution", "2 executions"]);
    }
}
