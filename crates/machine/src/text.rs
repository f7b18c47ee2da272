//! What a thread prints: a text with values put into it.
//!
//! `{}` is a signed number. `{:...}` is an optional `-` (pad on the right), an optional `0` (pad with zeros), an optional
//! width, and a letter: `d` signed, `u` unsigned, `x`, `X`, `o` other bases, `c` a byte as a character, `p` an address.

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
    spec.is_empty() || matches!(letter, "d" | "u" | "x" | "X" | "o" | "c" | "p")
}

fn put(text: &mut String, spec: &str, value: u64) {
    let (left, spec) = spec.strip_prefix('-').map_or((false, spec), |spec| (true, spec));
    let letter = spec.chars().last().unwrap_or('d');
    let digits = spec.trim_end_matches(|c: char| !c.is_ascii_digit());
    let width = digits.parse().unwrap_or(0usize).min(MAX_WIDTH);
    let zeros = digits.starts_with('0') && !left && letter != 'c';
    let body = match letter {
        'u' => value.to_string(),
        'x' => format!("{value:x}"),
        'X' => format!("{value:X}"),
        'o' => format!("{value:o}"),
        'c' => char::from(value as u8).to_string(),
        'p' => format!("{value:#x}"),
        _ => (value as i64).to_string(),
    };
    let padding = width.saturating_sub(body.len());
    match body.strip_prefix('-').filter(|_| zeros) {
        _ if left => text.extend([body, " ".repeat(padding)]),
        Some(digits) => text.extend(["-", &"0".repeat(padding), digits]),
        None => text.extend([if zeros { "0" } else { " " }.repeat(padding), body]),
    }
}

#[cfg(test)]
mod tests {
    use super::fill;

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
