//! `printf` and its like: the arguments are evaluated, the text is for whoever replays the execution.
//!
//! The format is taken apart here, because the program representation knows no C formats: each conversion becomes
//! `{}` (a signed number) or `{:...}` with width and base, and its argument a 64-bit number. A `%s` of a literal
//! is part of the text; of anything else, its address is shown, and its characters are read, as `strlen` reads them: they have to be there, and may race.

use super::Lowered;
use super::function::FnLowerer;
use super::intrinsic::string_of;
use super::value::{cast, reshape, resize};
use crate::ctype::{IntKind, Ty};
use crate::parse::Fault;
use crate::tree::Expr;
use raddle_program::{self as ir, CastOp, ErrorKind, Op, Type};

/// One conversion of a format.
struct Conversion {
    flags: String,
    width: String,
    precision: Option<String>,
    /// Size in bits that the length modifier asks for.
    bits: u32,
    letter: char,
    /// Whether an argument says how many characters there are at most.
    limited: bool,
    /// How many arguments width and precision take.
    stars: usize,
}

impl FnLowerer<'_, '_> {
    /// Prints; the result, if it is not just no error.
    pub(super) fn print_call(&mut self, expr: &Expr, name: &str, args: &[Expr]) -> Lowered<Option<ir::Expr>> {
        match name {
            "printf" => self.print(expr, args.first(), args.get(1..).unwrap_or(&[]), ""),
            "fprintf" | "dprintf" => self.print(expr, args.get(1), args.get(2..).unwrap_or(&[]), ""),
            // What a list holds is not shown.
            "vprintf" => self.text(expr, args.first(), ""),
            "vfprintf" | "vdprintf" => self.text(expr, args.get(1), ""),
            "puts" | "perror" => self.text(expr, args.first(), "\n"),
            "fputs" => self.text(expr, args.first(), ""),
            "putchar" | "putc" | "fputc" => {
                if let Some(arg) = args.first() {
                    let value = self.number(arg, 8, false)?;
                    self.at(expr.pos);
                    self.b.push(Op::Print { format: "{:c}".to_owned(), args: vec![value.clone()] });
                    return Ok(Some(resize(value, Type::I64, Type::I32, false)));
                }
                Ok(())
            }
            _ => Ok(()),
        }
        .map(|()| None)
    }

    /// `printf` whose result is asked for: how many characters it writes, as `snprintf` counts them. The text itself is shown only if its arguments can be
    /// evaluated twice.
    pub(super) fn printed_length(&mut self, expr: &Expr, args: &[Expr], first: usize) -> Lowered<ir::Expr> {
        let (before, rest) = args.split_at(first.min(args.len()));
        before.iter().try_for_each(|arg| self.effect(arg))?;
        let Some((format, others)) = rest.split_first() else {
            return Err(Fault::new(expr.pos, "a format is needed here"));
        };
        self.refuse_floats(format)?;
        let (pointer, wide) = (Ty::Void.plain().pointer().plain(), Ty::Int(IntKind::ULLong).plain());
        let mut values = vec![(ir::Expr::null(), pointer), (ir::Expr::Const(Type::I64, 0), wide)];
        for arg in rest {
            let value = self.value(arg)?;
            values.push((self.hold("shown", value), arg.ty.clone()));
        }
        if others.iter().all(|arg| self.is_pure(arg)) {
            self.print(expr, Some(format), others, "")?;
        }
        self.at(expr.pos);
        self.library_call("snprintf", values, &expr.ty, expr.pos)
    }

    /// Floating-point numbers are not turned into characters that the program sees.
    pub(super) fn refuse_floats(&self, format: &Expr) -> Lowered<()> {
        let text = string_of(format, self).unwrap_or_default();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('%') {
            rest = &rest[at + 1..];
            if let Some((conversion, after)) = parse(rest, 64) {
                if "fFeEgGaA".contains(conversion.letter) {
                    let message = "the characters of a floating-point number, or how many they are, are not supported";
                    return Err(Fault::new(format.pos, message));
                }
                rest = after;
            }
        }
        Ok(())
    }

    fn text(&mut self, expr: &Expr, arg: Option<&Expr>, end: &str) -> Lowered<()> {
        let Some(arg) = arg else { return Ok(()) };
        let (format, args) = match string_of(arg, self) {
            Some(text) => (escaped(&text), Vec::new()),
            None => ("{:p}".to_owned(), vec![self.string_argument(expr, arg, Some(None))?]),
        };
        self.at(expr.pos);
        self.b.push(Op::Print { format: format + end, args });
        Ok(())
    }

    fn print(&mut self, expr: &Expr, format: Option<&Expr>, args: &[Expr], end: &str) -> Lowered<()> {
        let text = format.and_then(|format| string_of(format, self));
        let Some(text) = text else {
            args.iter().try_for_each(|arg| self.effect(arg))?;
            return Ok(());
        };
        let mut out = String::new();
        let mut values = Vec::new();
        let mut args = args.iter();
        let mut rest = text.as_str();
        let long = 8 * self.program.checker.types.model.long;
        while let Some(at) = rest.find('%') {
            out.push_str(&escaped(&rest[..at]));
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let Some((conversion, after)) = parse(rest, long) else {
                out.push('%');
                continue;
            };
            rest = after;
            for _ in 0..conversion.stars {
                if let Some(arg) = args.next() {
                    self.effect(arg)?;
                }
            }
            let Some(arg) = args.next() else {
                return Err(Fault::new(expr.pos, "this format asks for more arguments than there are"));
            };
            self.conversion(expr, &conversion, arg, &mut out, &mut values)?;
        }
        args.try_for_each(|arg| self.effect(arg))?;
        out.push_str(&escaped(rest));
        out.push_str(end);
        self.at(expr.pos);
        self.b.push(Op::Print { format: out, args: values });
        Ok(())
    }

    fn conversion(
        &mut self,
        expr: &Expr,
        conversion: &Conversion,
        arg: &Expr,
        out: &mut String,
        values: &mut Vec<ir::Expr>,
    ) -> Lowered<()> {
        let Conversion { flags, width, precision, bits, letter, limited, .. } = conversion;
        let minus = if flags.contains('-') { "-" } else { "" };
        let zero = if flags.contains('0') { "0" } else { "" };
        match letter {
            'd' | 'i' => {
                values.push(self.number(arg, *bits, true)?);
                out.push_str(&match (minus, zero, width.as_str()) {
                    ("", "", "") => "{}".to_owned(),
                    _ => format!("{{:{minus}{zero}{width}d}}"),
                });
            }
            'u' | 'x' | 'X' | 'o' | 'c' => {
                let bits = if *letter == 'c' { 8 } else { *bits };
                values.push(self.number(arg, bits, false)?);
                if flags.contains('#') && matches!(letter, 'x' | 'X') {
                    out.push_str("0x");
                }
                out.push_str(&format!("{{:{minus}{zero}{width}{letter}}}"));
            }
            'p' => {
                values.push(self.number(arg, 64, false)?);
                out.push_str("{:p}");
            }
            's' => match string_of(arg, self) {
                Some(text) => {
                    let width = width.parse().unwrap_or(0usize).min(1000);
                    let padded = if minus.is_empty() { format!("{text:>width$}") } else { format!("{text:<width$}") };
                    out.push_str(&escaped(&padded));
                }
                None => {
                    // Digits are missing in `%.s`, which is no character at all.
                    let most = precision.as_ref().map(|digits| digits.parse().unwrap_or(0));
                    values.push(self.string_argument(expr, arg, (!limited).then_some(most))?);
                    out.push_str("{:p}");
                }
            },
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                values.push(self.value(arg)?);
                let precision = precision.as_ref().map_or(String::new(), |digits| format!(".{digits}"));
                let letter = letter.to_ascii_lowercase();
                out.push_str(&format!("{{:{minus}{zero}{width}{precision}{letter}}}"));
            }
            'n' => return Err(Fault::new(arg.pos, "`%n` is not supported")),
            _ => self.effect(arg)?,
        }
        Ok(())
    }

    /// A string is asked for, so null is an error. Its characters are read up to its end, or up to so many; not at all if that is not known.
    fn string_argument(&mut self, expr: &Expr, arg: &Expr, most: Option<Option<u64>>) -> Lowered<ir::Expr> {
        let value = self.number(arg, 64, false)?;
        let value = self.hold("shown", value);
        let null = ir::Expr::eq(value.clone(), ir::Expr::Const(Type::I64, 0));
        self.refuse(null, ErrorKind::Memory, "null is printed as a string");
        let Some(most) = most else { return Ok(value) };
        let (pointer, size) = (Ty::Void.plain().pointer().plain(), Ty::Int(IntKind::ULong).plain());
        let address = reshape(&self.program.checker.types, value.clone(), Type::I64, Type::Ptr, false);
        let mut values = vec![(address, pointer)];
        if let Some(most) = most {
            let ty = self.scalar(&size)?;
            values.push((ir::Expr::Const(ty, ty.truncate(most)), size.clone()));
        }
        self.at(expr.pos);
        let name = if most.is_some() { "strnlen" } else { "strlen" };
        self.library_call(name, values, &size, expr.pos)?;
        Ok(value)
    }

    /// The argument cut to so many bits and extended to 64.
    fn number(&mut self, arg: &Expr, bits: u32, signed: bool) -> Lowered<ir::Expr> {
        let value = self.value(arg)?;
        let ty = self.scalar(&arg.ty)?;
        let from_signed = arg.ty.ty.int().is_some_and(IntKind::signed);
        let cut = Type::int(bits).unwrap_or(Type::I64);
        let value = reshape(&self.program.checker.types, value, ty, cut, from_signed);
        Ok(cast(if signed { CastOp::SExt } else { CastOp::ZExt }, cut, Type::I64, value))
    }
}

/// Text in which no placeholder can be seen by accident.
fn escaped(text: &str) -> String {
    text.replace("{}", "{ }").replace("{:", "{ :")
}

/// The conversion after a `%`, and what follows it, where a `long` has so many bits.
fn parse(text: &str, long: u32) -> Option<(Conversion, &str)> {
    let take = |text: &str, wanted: &dyn Fn(char) -> bool| {
        let end = text.find(|c: char| !wanted(c)).unwrap_or(text.len());
        (text[..end].to_owned(), text[end..].len())
    };
    let (flags, left) = take(text, &|c| "-+ #0".contains(c));
    let text = &text[text.len() - left..];
    let (width, left) = take(text, &|c| c.is_ascii_digit() || c == '*');
    let mut text = &text[text.len() - left..];
    let mut stars = width.matches('*').count();
    let (mut given, mut limited) = (None, false);
    if let Some(precision) = text.strip_prefix('.') {
        let (digits, left) = take(precision, &|c| c.is_ascii_digit() || c == '*');
        stars += digits.matches('*').count();
        limited = digits.contains('*');
        given = (!limited).then_some(digits);
        text = &precision[precision.len() - left..];
    }
    let (length, left) = take(text, &|c| "hlLqjzt".contains(c));
    let text = &text[text.len() - left..];
    let bits = match length.as_str() {
        "" => 32,
        "hh" => 8,
        "h" => 16,
        "l" | "z" | "t" => long,
        _ => 64,
    };
    let letter = text.chars().next()?;
    let width = width.replace('*', "");
    Some((Conversion { flags, width, precision: given, bits, letter, limited, stars }, &text[letter.len_utf8()..]))
}
