//! What a thread prints: a text with values put into it.
//!
//! `{}` is a signed number. `{:...}` is an optional `-` (pad on the right), an optional `0` (pad with zeros), an optional
//! width, and a letter: `d` signed, `u` unsigned, `x`, `X`, `o` other bases, `c` a byte as a character, `p` an address. Before `f`, `e`, `g`, `a`,
//! for floating-point numbers of 64 bits, a precision may stand, as in C.

/// Widths beyond this are cut, so that a format cannot ask for unbounded memory.
const MAX_WIDTH: usize = 1000;

/// Puts the values where the placeholders stand; without a value a placeholder is left out.
pub(crate) fn fill(format: &str, values: &[u64]) -> String {
    let mut values = values.iter();
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let spec = match rest.find('}') {
            Some(1) => Some(""),
            Some(end) => rest[1..end].strip_prefix(':'),
            None => None,
        };
        let Some(spec) = spec.filter(|spec| is_spec(spec)) else {
            text.push('{');
            rest = &rest[1..];
            continue;
        };
        if let Some(&value) = values.next() {
            put(&mut text, spec, value);
        }
        rest = &rest[rest.find('}').map_or(rest.len(), |end| end + 1)..];
    }
    text.push_str(rest);
    text
}

fn is_spec(spec: &str) -> bool {
    let spec = spec.strip_prefix('-').unwrap_or(spec);
    let letter = spec.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = letter.strip_prefix('.').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    spec.is_empty()
        || matches!(digits.unwrap_or(letter), "f" | "e" | "g" | "a")
        || matches!(letter, "d" | "u" | "x" | "X" | "o" | "c" | "p")
}

fn put(text: &mut String, spec: &str, value: u64) {
    let (left, spec) = spec.strip_prefix('-').map_or((false, spec), |spec| (true, spec));
    let letter = spec.chars().last().unwrap_or('d');
    let digits = spec.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (digits, precision) = digits.split_once('.').map_or((digits, None), |(width, digits)| (width, Some(digits)));
    let precision = precision.map(|digits| digits.parse().unwrap_or(0usize).min(MAX_WIDTH));
    let width = digits.parse().unwrap_or(0usize).min(MAX_WIDTH);
    let zeros = digits.starts_with('0') && !left && letter != 'c';
    let body = match letter {
        'u' => value.to_string(),
        'x' => format!("{value:x}"),
        'X' => format!("{value:X}"),
        'o' => format!("{value:o}"),
        'c' => char::from(value as u8).to_string(),
        'p' => format!("{value:#x}"),
        'f' | 'e' | 'g' | 'a' => floating(f64::from_bits(value), letter, precision),
        _ => (value as i64).to_string(),
    };
    let padding = width.saturating_sub(body.len());
    match body.strip_prefix('-').filter(|_| zeros) {
        _ if left => text.extend([body, " ".repeat(padding)]),
        Some(digits) => text.extend(["-", &"0".repeat(padding), digits]),
        None => text.extend([if zeros { "0" } else { " " }.repeat(padding), body]),
    }
}

/// A floating-point number as `printf` writes it. `a` is written as `e` with all digits.
fn floating(value: f64, letter: char, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.into();
    }
    match letter {
        'f' => format!("{value:.*}", precision.unwrap_or(6)),
        'e' => exponential(value, precision.unwrap_or(6)),
        'a' => exponential(value, 16),
        _ => {
            let digits = precision.unwrap_or(6).max(1);
            let scientific = exponential(value, digits - 1);
            let exponent = scientific.rsplit('e').next().and_then(|text| text.parse::<i32>().ok()).unwrap_or(0);
            if (-4..digits as i32).contains(&exponent) {
                return trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize));
            }
            let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
            format!("{}e{power}", trimmed(mantissa))
        }
    }
}

/// With an exponent of at least two digits and a sign.
fn exponential(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}

/// Without zeros at the end of a fraction.
fn trimmed(text: &str) -> String {
    if !text.contains('.') {
        return text.to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn floating_point_numbers_look_as_in_c() {
        let shown = |spec: &str, value: f64| fill(spec, &[value.to_bits()]);
        assert_eq!(shown("{:f}", 0.5), "0.500000");
        assert_eq!(shown("[{:8.2f}]", -1.005), "[   -1.00]");
        assert_eq!(shown("{:.3e}", 123456.0), "1.235e+05");
        assert_eq!(
            [1e-5, 0.0001, 100000.0, 1e6, 0.0].map(|x| shown("{:g}", x)),
            ["1e-05", "0.0001", "100000", "1e+06", "0"]
        );
        assert_eq!((shown("{:f}", f64::NEG_INFINITY), shown("{:05.1f}", -2.25)), ("-inf".into(), "-02.2".into()));
    }

    #[test]
    fn values_are_put_in_as_signed_numbers_or_as_the_letter_says() {
        assert_eq!(fill("{} and {}", &[1, u64::MAX]), "1 and -1");
        assert_eq!(fill("{:u} {:x} {:c}{:c}", &[u64::MAX, 255, 104, 105]), "18446744073709551615 ff hi");
        assert_eq!(
            fill("[{:5d}][{:-5d}][{:05d}][{:04x}]", &[42, 42, -42i64 as u64, 10]),
            "[   42][42   ][-0042][000a]"
        );
    }

    #[test]
    fn other_braces_are_text() {
        assert_eq!(fill("{ {x} {:q} {}", &[7]), "{ {x} {:q} 7");
        assert_eq!(fill("{} {}", &[7]), "7 ");
    }
}
