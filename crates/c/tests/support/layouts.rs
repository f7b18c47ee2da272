//! Random structs and unions, and what a program sees of them: sizes, offsets, the bytes after members were written, values of members after assignments
//! of every kind, copies, arguments and results.
//!
//! Bit-fields have all widths, signs and types; structs are packed, aligned, under `#pragma pack`, nested, anonymous, arrays of each other. Programs print
//! through `out` and `show` only, so that they run without a library, too. An object is `memset` before its bytes are shown, and never assigned to as a
//! whole then, so that its padding is known.

use raddle_testkit::Random;
use std::fmt::Write;

/// What the programs print with where there is a library. Raddle prints strings that are literals only.
pub(crate) const HEAD: &str = "#include <stdio.h>\n#include <string.h>\n#include <stddef.h>
#define out(name, value) printf(name \" %llx\\n\", (unsigned long long)(long long)(value))
#define show(name, p, n) (printf(name), show_bytes(p, n))
static void show_bytes(const void *p, unsigned long n) {
    const unsigned char *bytes = p;
    for (unsigned long i = 0; i < n; i++) printf(\" %02x\", bytes[i]);
    printf(\"\\n\");
}\n";

/// What a member is.
#[derive(Clone)]
enum Kind {
    Scalar(&'static str),
    /// Type and width.
    Bits(&'static str, u32),
}

/// A member that can be read and assigned: how it is reached, and what it is.
type Leaf = (String, Kind);

const SCALARS: [&str; 15] = [
    "_Bool",
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "unsigned long long",
    "float",
    "double",
    "enum color",
];

/// Types of bit-fields, and how many bits they have at most.
const FIELDS: [(&str, u32); 12] = [
    ("int", 32),
    ("unsigned", 32),
    ("signed char", 8),
    ("unsigned char", 8),
    ("short", 16),
    ("unsigned short", 16),
    ("long long", 64),
    ("unsigned long long", 64),
    ("_Bool", 1),
    ("char", 8),
    ("enum color", 32),
    ("signed", 32),
];

struct Layouts {
    rng: Random,
    prefix: String,
    names: usize,
    /// The types made so far, and their members.
    types: Vec<(String, Vec<Leaf>)>,
}

/// Several programs in one file.
pub(crate) fn file(seed: u64, programs: usize) -> String {
    let mut text = "enum color { RED, GREEN, BLUE = 70000 };\n".to_owned();
    for index in 0..programs {
        let (rng, prefix) = (Random::new(seed * 1000 + index as u64), format!("p{index}_"));
        Layouts { rng, prefix, names: 0, types: Vec::new() }.program(&mut text);
    }
    text.push_str("int main(void) {\n");
    for index in 0..programs {
        let _ = writeln!(text, "    out(\"program\", {index}); p{index}_main();");
    }
    text.push_str("    return 0;\n}\n");
    text
}

impl Layouts {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("m{}", self.names)
    }

    /// The members of a record, written to `out`, and those that can be reached through `path`.
    fn members(&mut self, out: &mut String, path: &str, depth: u32) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for _ in 0..self.rng.between(1, 5) {
            let name = self.name();
            let attribute = match self.rng.below(24) {
                0 => " __attribute__((packed))".to_owned(),
                1 => format!(" __attribute__((aligned({})))", 2 << self.rng.below(4)),
                _ => String::new(),
            };
            match self.rng.below(12) {
                0..=2 => {
                    let ty = self.rng.pick(&SCALARS);
                    let _ = write!(out, " {ty} {name}{attribute};");
                    leaves.push((format!("{path}{name}"), Kind::Scalar(ty)));
                }
                3..=7 => {
                    let (ty, most) = self.rng.pick(&FIELDS);
                    let width = self.rng.between(1, most as usize) as u32;
                    let _ = write!(out, " {ty} {name} : {width}{attribute};");
                    leaves.push((format!("{path}{name}"), Kind::Bits(ty, width)));
                    if self.rng.chance(12) {
                        let _ = write!(out, " {} : 0;", self.rng.pick(&["int", "char", "long long", "short"]));
                    } else if self.rng.chance(8) {
                        let _ = write!(out, " unsigned : {};", self.rng.between(1, 32));
                    }
                }
                8 => {
                    let (ty, n) = (self.rng.pick(&SCALARS), self.rng.between(1, 4));
                    let _ = write!(out, " {ty} {name}[{n}]{attribute};");
                    let at = self.rng.below(n);
                    leaves.push((format!("{path}{name}[{at}]"), Kind::Scalar(ty)));
                }
                9 if !self.types.is_empty() => {
                    let which = self.rng.below(self.types.len());
                    let (ty, members) = self.types[which].clone();
                    let _ = write!(out, " {ty} {name};");
                    leaves.extend(members.into_iter().map(|(member, kind)| (format!("{path}{name}.{member}"), kind)));
                }
                10 | 11 if depth < 2 => {
                    let word = self.rng.pick(&["struct", "struct", "union"]);
                    let anonymous = self.rng.chance(50);
                    let _ = write!(out, " {word} {{");
                    let inner = if anonymous { path.to_owned() } else { format!("{path}{name}.") };
                    let mut members = self.members(out, &inner, depth + 1);
                    let _ = write!(out, " }} {};", if anonymous { "" } else { &name });
                    if word == "union" {
                        // One of them is enough: which one was written is known then.
                        let one = self.rng.below(members.len());
                        members = vec![members.swap_remove(one)];
                    }
                    leaves.extend(members);
                }
                _ => {
                    let _ = write!(out, " {}{name};", self.rng.pick(&["int *", "void *", "char ", "short "]));
                }
            }
        }
        if leaves.is_empty() {
            let name = self.name();
            let _ = write!(out, " int {name} : 5;");
            leaves.push((format!("{path}{name}"), Kind::Bits("int", 5)));
        }
        leaves
    }

    fn record(&mut self, out: &mut String) {
        let p = self.prefix.clone();
        let name = format!("struct {p}{}", self.name());
        let pack = self.rng.chance(15).then(|| 1 << self.rng.below(4));
        if let Some(pack) = pack {
            let _ = writeln!(out, "#pragma pack(push, {pack})");
        }
        let _ = write!(out, "{name} {{");
        let leaves = self.members(out, "", 0);
        let attribute = match self.rng.below(8) {
            0 => " __attribute__((packed))".to_owned(),
            1 => format!(" __attribute__((aligned({})))", 1 << self.rng.below(6)),
            2 => " __attribute__((packed, aligned(2)))".to_owned(),
            _ => String::new(),
        };
        let _ = writeln!(out, " }}{attribute};");
        if pack.is_some() {
            let _ = writeln!(out, "#pragma pack(pop)");
        }
        self.types.push((name, leaves));
    }

    fn value(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Scalar("float" | "double") => format!("{}.{}", self.rng.below(90), self.rng.pick(&["0", "25", "5"])),
            _ => match self.rng.below(5) {
                0 => format!("{}", self.rng.below(4)),
                1 => format!("-{}", self.rng.below(300)),
                2 => format!("{:#x}ull", self.rng.number()),
                3 => format!("{:#x}", self.rng.number() as u32),
                _ => format!("{}", self.rng.number() as i16),
            },
        }
    }

    /// Something that is done with a member of `object`.
    fn act(&mut self, out: &mut String, object: &str, leaves: &[Leaf]) {
        let (member, kind) = self.rng.pick(leaves);
        let place = format!("{object}.{member}");
        let (a, small) = (self.value(&kind), self.rng.below(60));
        let is_float = matches!(kind, Kind::Scalar("float" | "double"));
        let is_bool = matches!(kind, Kind::Scalar("_Bool") | Kind::Bits("_Bool", _));
        // Steps of what fills an `int` or is wider may overflow.
        let narrow = match kind {
            Kind::Scalar(ty) => ty.contains("char") || ty.contains("short") || ty.starts_with("unsigned"),
            Kind::Bits(ty, width) => width < 31 || ty.starts_with("unsigned"),
        };
        let text = match self.rng.below(12) {
            3 if narrow && !is_bool => format!("out(\"step\", {place}{});", self.rng.pick(&["++", "--"])),
            4 if narrow && !is_bool => format!("out(\"step\", {}{place});", self.rng.pick(&["++", "--"])),
            5 if !is_float => format!("out(\"assigned\", {place} = {a});"),
            6 if !is_float => format!("out(\"changed\", {place} {}= {small});", self.rng.pick(&["&", "|", "^"])),
            7 if narrow && !is_bool && !is_float => {
                format!("out(\"changed\", {place} {}= {small});", self.rng.pick(&["+", "-"]))
            }
            8 if !is_float && !is_bool => format!("{place} = (unsigned long long){place} * {small} + {small};"),
            9 if !is_float => format!("out(\"compared\", {place} > {small} ? {place} - 1ll : -({place} == 0));"),
            10 if !is_float => format!("out(\"shifted\", {place} >> {});", small % 8 % self.width(&kind)),
            11 if is_float => format!("{place} += {small}; out(\"float\", {place} * 4);"),
            _ => format!("{place} = {a};"),
        };
        let _ = writeln!(out, "    {text}");
    }

    fn width(&self, kind: &Kind) -> usize {
        match kind {
            Kind::Bits(_, width) => *width as usize,
            Kind::Scalar(_) => 8,
        }
    }

    fn print(out: &mut String, object: &str, leaves: &[Leaf]) {
        for (member, kind) in leaves {
            let factor = if matches!(kind, Kind::Scalar("float" | "double")) { " * 4" } else { "" };
            let _ = writeln!(out, "    out(\"{member}\", {object}.{member}{factor});");
        }
    }

    fn program(mut self, text: &mut String) {
        let p = self.prefix.clone();
        for _ in 0..self.rng.between(1, 5) {
            self.record(text);
        }
        let (ty, leaves) = self.types[self.types.len() - 1].clone();
        let first = leaves[self.rng.below(leaves.len())].clone();
        let _ = writeln!(text, "static {ty} {p}change({ty} x, int n) {{ x.{} = n; return x; }}", first.0);
        let _ = writeln!(text, "static {ty} {p}g = {{ .{} = {} }}, {p}list[3];", leaves[0].0, self.value(&leaves[0].1));
        let _ = writeln!(text, "static void {p}main(void) {{\n    {ty} x, y, *q = &{p}list[1];");
        let _ = writeln!(text, "    memset(&x, {}, sizeof x);", self.rng.pick(&["0", "255", "0x5a"]));
        for (name, _) in &self.types {
            let _ = writeln!(text, "    out(\"size\", sizeof({name})); out(\"align\", _Alignof({name}));");
        }
        for (member, kind) in &leaves {
            if let Kind::Scalar(_) = kind {
                let _ = writeln!(text, "    out(\"offset\", offsetof({ty}, {member}));");
            }
        }
        // Whatever is read has been written as what it is, so that no `_Bool` or number is none.
        for (member, kind) in &leaves {
            let value = self.value(kind);
            let _ = writeln!(text, "    x.{member} = {value};");
        }
        let _ = writeln!(text, "    show(\"bytes\", &x, sizeof x);");
        for _ in 0..self.rng.between(2, 10) {
            self.act(text, "x", &leaves);
        }
        let _ = writeln!(text, "    show(\"bytes\", &x, sizeof x);");
        Self::print(text, "x", &leaves);
        let _ = writeln!(text, "    y = {p}change(x, {});", self.rng.number() as i16);
        Self::print(text, "y", &leaves);
        let _ = writeln!(text, "    *q = y; {p}list[2] = *q; q++;");
        for _ in 0..self.rng.between(1, 5) {
            self.act(text, "(*q)", &leaves);
        }
        let _ = writeln!(text, "    memcpy(&y, q, sizeof y);");
        for object in ["y".to_owned(), format!("{p}g"), format!("{p}list[1]"), format!("{p}list[2]")] {
            Self::print(text, &object, &leaves);
        }
        let _ = writeln!(text, "}}");
    }
}
