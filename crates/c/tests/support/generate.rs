//! Random C programs of one thread, without undefined behaviour, that print what they compute.
//!
//! Freedom from undefined behaviour is by construction: sums, differences and products are computed in unsigned
//! types, divisors are between 1 and 8, shift counts are cut, indices are masked, loops count down a budget, everything
//! is initialised, and an expression changes nothing, or is one call or one counting step and nothing else. Everything else is
//! left to chance: types, conversions between all of them, bit-fields, structs by value, pointers, control flow.

use raddle_testkit::Random;
use std::fmt::Write;

const TYPES: [&str; 12] = [
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
];
/// A signed type and its unsigned partner, for arithmetic that may wrap.
const WIDE: [(&str, &str); 6] = [
    ("int", "unsigned"),
    ("unsigned", "unsigned"),
    ("long", "unsigned long"),
    ("unsigned long", "unsigned long"),
    ("long long", "unsigned long long"),
    ("short", "unsigned"),
];

/// Several programs in one file; each prints under a heading of its own.
pub(crate) fn file(seed: u64, programs: usize) -> String {
    let mut text = "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n#include <stddef.h>\n".to_owned();
    for index in 0..programs {
        Generator::new(seed * 1000 + index as u64, index).program(&mut text);
    }
    text + &super::main_of_all(programs)
}

struct Generator {
    rng: Random,
    prefix: String,
    /// Scalars in scope that can be read and assigned: name and type.
    vars: Vec<(String, &'static str)>,
    /// Names that can be read only.
    constants: Vec<String>,
    functions: usize,
    labels: usize,
    temporaries: usize,
    depth: usize,
    in_loop: bool,
}

impl Generator {
    fn new(seed: u64, index: usize) -> Self {
        Generator {
            rng: Random::new(seed),
            prefix: format!("p{index}_"),
            vars: Vec::new(),
            constants: Vec::new(),
            functions: 0,
            labels: 0,
            temporaries: 0,
            depth: 0,
            in_loop: false,
        }
    }

    fn literal(&mut self) -> String {
        match self.rng.below(8) {
            0 => format!("{}", self.rng.below(10)),
            1 => format!("-{}", self.rng.below(100)),
            2 => format!("{}u", self.rng.number() as u32),
            3 => format!("{:#x}ul", self.rng.number()),
            4 => format!("{}l", self.rng.number() as i32),
            5 => format!("'{}'", (b'a' + self.rng.below(26) as u8) as char),
            6 => format!("{:#x}", self.rng.number() as u32),
            _ => format!("{}", self.rng.number() as i16),
        }
    }

    fn atom(&mut self) -> String {
        let p = self.prefix.clone();
        match self.rng.below(12) {
            0 | 1 => self.literal(),
            2 => format!("{p}grid[{} & 3][{} & 1]", self.small(), self.small()),
            3 => format!("{p}array[{} & 7]", self.small()),
            4 => format!("{p}s.{}", self.rng.pick(&["a", "b", "c", "d", "bits", "flag", "wide", "inner.x", "inner.y"])),
            5 => format!("*({p}array + ({} & 7))", self.small()),
            6 => format!("({p}ptr->{})", self.rng.pick(&["a", "b", "bits", "inner.y"])),
            7 if !self.constants.is_empty() => self.rng.pick(&self.constants).clone(),
            8 => format!("{p}u.bytes[{} & 3]", self.small()),
            _ if !self.vars.is_empty() => self.rng.pick(&self.vars).0.clone(),
            _ => self.literal(),
        }
    }

    /// Something cheap whose low bits are random.
    fn small(&mut self) -> String {
        if self.vars.is_empty() || self.rng.chance(50) {
            return self.rng.below(16).to_string();
        }
        format!("(unsigned){}", self.rng.pick(&self.vars).0)
    }

    fn expr(&mut self) -> String {
        self.depth += 1;
        let text = if self.depth > 5 { self.atom() } else { self.compound_expr() };
        self.depth -= 1;
        text
    }

    fn compound_expr(&mut self) -> String {
        let (ty, unsigned) = self.rng.pick(&WIDE);
        match self.rng.below(20) {
            0..=3 => {
                let op = self.rng.pick(&["+", "-", "*"]);
                let (a, b) = (self.expr(), self.expr());
                format!("({ty})(({unsigned})({a}) {op} ({unsigned})({b}))")
            }
            4 | 5 => {
                let op = self.rng.pick(&["&", "|", "^"]);
                format!("({} {op} {})", self.expr(), self.expr())
            }
            6 | 7 => {
                let op = self.rng.pick(&["<", ">", "<=", ">=", "==", "!="]);
                format!("({} {op} {})", self.expr(), self.expr())
            }
            8 => format!("({} {} (({} & 7) + 1))", self.expr(), self.rng.pick(&["/", "%"]), self.expr()),
            9 => format!("({} >> ({} & 7))", self.expr(), self.expr()),
            10 => format!("(({unsigned})({}) << ({} & 15))", self.expr(), self.expr()),
            11 => format!("({}){}", self.rng.pick(&TYPES), self.atom()),
            12 => format!("({} ? {} : {})", self.expr(), self.expr(), self.expr()),
            13 => format!("({} && {})", self.expr(), self.expr()),
            14 => format!("({} || {})", self.expr(), self.expr()),
            15 => format!("(!{})", self.atom()),
            16 => format!("(~{})", self.atom()),
            17 => format!("(-({unsigned})({}))", self.atom()),
            18 => format!("({}, {})", self.atom(), self.expr()),
            _ => self.atom(),
        }
    }

    fn call(&mut self) -> String {
        let which = self.rng.below(self.functions);
        let p = self.prefix.clone();
        let (a, b) = (self.expr(), self.expr());
        match self.rng.below(3) {
            0 => format!("{p}table[{} & 1]({a}, {b})", self.small()),
            1 => format!("{p}make({a}, {b}).a"),
            _ => format!("{p}f{which}({a}, {b})"),
        }
    }

    fn statement(&mut self, out: &mut String, indent: usize, budget: usize) {
        let pad = "    ".repeat(indent);
        let p = self.prefix.clone();
        let simple = indent > 4 || budget == 0;
        match self.rng.below(if simple { 8 } else { 20 }) {
            0 | 1 => {
                let target = self.target();
                let _ = writeln!(out, "{pad}{target} = {};", self.expr());
            }
            2 => {
                let op = self.rng.pick(&["&", "|", "^"]);
                let target = self.target();
                let value = self.expr();
                let _ = writeln!(out, "{pad}{target} {op}= {value};");
            }
            3 => self.narrow_change(out, &pad),
            4 => {
                let name = self.rng.pick(&self.vars).clone();
                let step = self.rng.pick(&["++", "--"]);
                // Signed counters could overflow; unsigned ones and narrow ones cannot.
                if name.1.starts_with("unsigned") || name.1.ends_with("char") || name.1 == "short" {
                    // A plain variable: an index could read what is counted.
                    let other = self.rng.pick(&self.vars).0.clone();
                    let value =
                        if self.rng.chance(50) { format!("{}{step}", name.0) } else { format!("{step}{}", name.0) };
                    if other == name.0 {
                        let _ = writeln!(out, "{pad}{value};");
                    } else {
                        let _ = writeln!(out, "{pad}{other} = {value};");
                    }
                }
            }
            5 => {
                let (format, cast) = self.rng.pick(&[
                    ("%d", "int"),
                    ("%u", "unsigned"),
                    ("%lld", "long long"),
                    ("%llu", "unsigned long long"),
                    ("%x", "unsigned"),
                    ("%hhd", "char"),
                    ("%6d|", "int"),
                    ("%08x", "unsigned"),
                    ("%-7d|", "int"),
                    ("%lo", "unsigned long"),
                ]);
                let _ = writeln!(out, "{pad}printf(\"{format}\\n\", ({cast}){});", self.expr());
            }
            6 => match self.rng.below(6) {
                0 => {
                    let _ = writeln!(out, "{pad}{p}s = {p}t;");
                }
                1 => {
                    let (a, b) = (self.expr(), self.expr());
                    let _ = writeln!(out, "{pad}{p}t = {p}make({a}, {b});");
                }
                2 => {
                    let value = self.expr();
                    let _ = writeln!(out, "{pad}{p}t = (struct {p}S){{ .b = {value}, .inner = {{ 3, 4 }} }};");
                }
                3 => {
                    let _ = writeln!(out, "{pad}{p}ptr = {} ? &{p}s : &{p}t;", self.expr());
                }
                4 => {
                    let _ = writeln!(out, "{pad}memcpy(&{p}t, &{p}s, sizeof {p}t);");
                }
                _ => {
                    let _ = writeln!(out, "{pad}memset({p}array, {} & 255, sizeof {p}array);", self.small());
                }
            },
            // A call is all there is to its expression: what it changes is read nowhere else in it.
            7 if self.functions > 0 => {
                let call = self.call();
                let target = self.rng.pick(&self.vars).0.clone();
                let _ = match self.rng.below(4) {
                    0 => writeln!(out, "{pad}{call};"),
                    1 => writeln!(out, "{pad}if ({call}) {target} = 1;"),
                    2 => writeln!(out, "{pad}printf(\"%lld\\n\", (long long){call});"),
                    _ => writeln!(out, "{pad}{target} = {call};"),
                };
            }
            7 => {
                let _ = writeln!(out, "{pad}(void)({});", self.expr());
            }
            8 | 9 => {
                let _ = writeln!(out, "{pad}if ({}) {{", self.expr());
                self.block(out, indent + 1, budget / 2);
                if self.rng.chance(50) {
                    let _ = writeln!(out, "{pad}}} else {{");
                    self.block(out, indent + 1, budget / 2);
                }
                let _ = writeln!(out, "{pad}}}");
            }
            10 | 11 => self.counted_loop(out, indent, budget),
            12 => self.switch(out, indent, budget),
            13 => {
                self.temporaries += 1;
                let name = format!("t{}", self.temporaries);
                let ty = self.rng.pick(&TYPES);
                let value = self.expr();
                let _ = writeln!(out, "{pad}{{\n{pad}    {ty} {name} = {value};");
                self.vars.push((name.clone(), ty));
                self.block(out, indent + 1, budget / 2);
                if self.rng.chance(50) {
                    let _ = writeln!(out, "{pad}    {ty} *pointer = &{name}; *pointer = {};", self.expr());
                }
                let target = self.target();
                let _ = writeln!(out, "{pad}    {target} = {name};\n{pad}}}");
                self.vars.retain(|(n, _)| *n != name);
            }
            14 => {
                self.labels += 1;
                let label = format!("skip{}", self.labels);
                let _ = writeln!(out, "{pad}if ({}) goto {label};", self.expr());
                self.statement(out, indent + 1, 0);
                let _ = writeln!(out, "{pad}{label}: ;");
            }
            15 => {
                let target = self.target();
                let value = self.expr();
                let _ = writeln!(out, "{pad}{target} = ({{ long long in = {value}; in ^ 5; }});");
            }
            17 | 18 => self.atomic(out, &pad),
            16 if self.in_loop => {
                let word = self.rng.pick(&["break", "continue"]);
                let _ = writeln!(out, "{pad}if ({}) {word};", self.expr());
            }
            _ => {
                let (a, b) = (self.rng.below(8), self.rng.below(8));
                let target = self.target();
                let _ = writeln!(
                    out,
                    "{pad}{target} = (&{p}array[{a}] - &{p}array[{b}]) + (&{p}array[{a}] < &{p}array[{b}]) + sizeof {p}s + offsetof(struct {p}S, inner.y);"
                );
            }
        }
    }

    /// An update at once, of objects that are the function's own and of others.
    fn atomic(&mut self, out: &mut String, pad: &str) {
        let (name, ty) = self.rng.pick(&self.vars).clone();
        let target = self.rng.pick(&self.vars).0.clone();
        if ty == "_Bool" || target == name {
            return;
        }
        let value = self.expr();
        let line = match self.rng.below(4) {
            0 => format!("{target} = __atomic_exchange_n(&{name}, ({ty}){value}, 5);"),
            1 => {
                let expected = if self.rng.chance(50) { name.clone() } else { self.expr() };
                format!(
                    "{{ {ty} seen = {expected}; int won = __atomic_compare_exchange_n(&{name}, &seen, ({ty}){value}, 0, 5, 5); {target} = won + (unsigned long long)seen; }}"
                )
            }
            _ => {
                let op = self.rng.pick(&["add", "sub", "and", "or", "xor", "nand"]);
                let builtin =
                    if self.rng.chance(50) { format!("__atomic_fetch_{op}") } else { format!("__atomic_{op}_fetch") };
                format!("{target} = {builtin}(&{name}, ({ty}){value}, 5);")
            }
        };
        let _ = writeln!(out, "{pad}{line}");
    }

    /// `op=` on types whose arithmetic cannot overflow.
    fn narrow_change(&mut self, out: &mut String, pad: &str) {
        let (name, ty) = self.rng.pick(&self.vars).clone();
        let value = self.expr();
        let line = match ty {
            "unsigned" | "unsigned long" | "unsigned long long" => {
                let op = self.rng.pick(&["+", "-", "*"]);
                format!("{name} {op}= ({ty}){value};")
            }
            "char" | "signed char" | "unsigned char" | "short" | "unsigned short" => {
                let op = self.rng.pick(&["+", "-"]);
                format!("{name} {op}= ({ty}){value};")
            }
            _ => format!("{name} {}= (({value}) & 7) + 1;", self.rng.pick(&["/", "%", ">>"])),
        };
        let _ = writeln!(out, "{pad}{line}");
    }

    fn target(&mut self) -> String {
        let p = self.prefix.clone();
        match self.rng.below(8) {
            0 => format!("{p}array[{} & 7]", self.small()),
            1 => format!("{p}s.{}", self.rng.pick(&["a", "b", "c", "d", "bits", "flag", "wide", "inner.x"])),
            2 => format!("{p}grid[{} & 3][{} & 1]", self.small(), self.small()),
            3 => format!("{p}ptr->{}", self.rng.pick(&["a", "bits", "wide", "inner.y"])),
            4 => format!("{p}u.{}", self.rng.pick(&["word", "bytes[1]", "half"])),
            _ => self.rng.pick(&self.vars).0.clone(),
        }
    }

    fn counted_loop(&mut self, out: &mut String, indent: usize, budget: usize) {
        let pad = "    ".repeat(indent);
        self.temporaries += 1;
        let name = format!("i{}", self.temporaries);
        let turns = self.rng.below(5) + 1;
        let outer = std::mem::replace(&mut self.in_loop, true);
        self.constants.push(name.clone());
        match self.rng.below(3) {
            0 => {
                let _ = writeln!(out, "{pad}for (int {name} = 0; {name} < {turns}; {name}++) {{");
                self.block(out, indent + 1, budget / 2);
                let _ = writeln!(out, "{pad}}}");
            }
            1 => {
                let _ = writeln!(out, "{pad}int {name} = {turns};\n{pad}while ({name}-- > 0) {{");
                self.block(out, indent + 1, budget / 2);
                let _ = writeln!(out, "{pad}}}");
            }
            _ => {
                let _ = writeln!(out, "{pad}int {name} = 0;\n{pad}do {{");
                self.block(out, indent + 1, budget / 2);
                let _ = writeln!(out, "{pad}}} while (++{name} < {turns});");
            }
        }
        // Names declared beside the loop stay visible only in blocks; do not use them again.
        self.constants.retain(|n| *n != name);
        self.in_loop = outer;
    }

    fn switch(&mut self, out: &mut String, indent: usize, budget: usize) {
        let pad = "    ".repeat(indent);
        let outer = std::mem::replace(&mut self.in_loop, false);
        let _ = writeln!(out, "{pad}switch ({} & 15) {{", self.expr());
        let mut low = 0;
        while low < 12 {
            let high = low + self.rng.below(3);
            let label = if high == low { format!("{low}") } else { format!("{low} ... {high}") };
            let _ = writeln!(out, "{pad}case {label}:");
            self.statement(out, indent + 1, budget / 3);
            if self.rng.chance(60) {
                let _ = writeln!(out, "{pad}    break;");
            }
            low = high + 1 + self.rng.below(3);
        }
        if self.rng.chance(60) {
            let _ = writeln!(out, "{pad}default:");
            self.statement(out, indent + 1, 0);
        }
        let _ = writeln!(out, "{pad}}}");
        self.in_loop = outer;
    }

    fn block(&mut self, out: &mut String, indent: usize, budget: usize) {
        for _ in 0..self.rng.below(3) + 1 {
            self.statement(out, indent, budget);
        }
    }

    fn program(mut self, out: &mut String) {
        let p = self.prefix.clone();
        let field = |rng: &mut Random| TYPES[rng.below(11) + 1];
        let widths = [self.rng.below(7) + 1, self.rng.below(30) + 1];
        let (a, b, c, d) = (field(&mut self.rng), field(&mut self.rng), field(&mut self.rng), field(&mut self.rng));
        let _ = writeln!(
            out,
            "struct {p}S {{ {a} a; {b} b; int bits : {}; {c} c; unsigned flag : {}, : 0, wide : 20; {d} d; struct {{ short x; long y; }} inner; }};",
            widths[0], widths[1]
        );
        let _ =
            writeln!(out, "static struct {p}S {p}s = {{ 1, .c = 2, .inner = {{ .y = 3 }} }}, {p}t, *{p}ptr = &{p}t;");
        let _ = writeln!(
            out,
            "static union {{ unsigned word; unsigned char bytes[4]; short half; }} {p}u = {{ 0x12345678 }};"
        );
        let element = field(&mut self.rng);
        let _ = writeln!(out, "static {element} {p}array[8] = {{ 1, 2, [5] = 7, 8 }};");
        let cell = field(&mut self.rng);
        let _ = writeln!(out, "static {cell} {p}grid[4][2] = {{ {{ 1 }}, [2] = {{ 3, 4 }}, 5 }};");
        let _ = writeln!(out, "enum {{ {p}RED = 3, {p}GREEN, {p}BLUE = -2 }};");
        self.constants.extend([format!("{p}RED"), format!("{p}BLUE"), "sizeof(int[3])".to_owned()]);
        for index in 0..4 {
            let ty = self.rng.pick(&TYPES);
            let value = self.literal();
            let _ = writeln!(out, "static {ty} {p}g{index} = ({ty}){value};");
            self.vars.push((format!("{p}g{index}"), ty));
        }
        let _ = writeln!(
            out,
            "static struct {p}S {p}make(long a, int b) {{ struct {p}S r = {p}s; r.a = a; r.b = b; r.inner.x = a ^ b; return r; }}"
        );
        let _ = writeln!(
            out,
            "static long {p}sum(struct {p}S s, int n) {{ return n <= 0 ? 0 : (long)((unsigned long)s.a + (unsigned long)s.bits + (unsigned long){p}sum(s, n - 1)); }}"
        );
        let _ = writeln!(
            out,
            "static int {p}t0(int a, int b) {{ return a ^ b; }}\nstatic int {p}t1(int a, int b) {{ static int calls; calls++; return (a & b) + calls; }}"
        );
        let _ = writeln!(out, "static int (*{p}table[2])(int, int) = {{ {p}t0, &{p}t1 }};");
        for index in 0..2 {
            let (ret, a, b) = (self.rng.pick(&TYPES), self.rng.pick(&TYPES), self.rng.pick(&TYPES));
            let _ = writeln!(out, "static {ret} {p}f{index}({a} x, {b} y) {{");
            self.vars.extend([("x".to_owned(), a), ("y".to_owned(), b)]);
            for _ in 0..self.rng.below(3) + 1 {
                self.statement(out, 1, 2);
            }
            let _ = writeln!(out, "    return {};\n}}", self.expr());
            self.vars.retain(|(n, _)| n != "x" && n != "y");
            self.functions = index + 1;
        }
        let _ = writeln!(out, "static void {p}main(void) {{");
        for index in 0..3 {
            let ty = self.rng.pick(&TYPES);
            let value = self.expr();
            let _ = writeln!(out, "    {ty} l{index} = {value};");
            self.vars.push((format!("l{index}"), ty));
        }
        for _ in 0..self.rng.below(10) + 6 {
            self.statement(out, 1, 6);
        }
        for (name, _) in self.vars.clone() {
            let _ = writeln!(out, "    printf(\"{name} %lld\\n\", (long long){name});");
        }
        let _ = writeln!(
            out,
            "    for (int i = 0; i < 8; i++) printf(\"%lld \", (long long){p}array[i] + {p}grid[i / 2][i % 2]);"
        );
        let _ = writeln!(
            out,
            "    printf(\"\\n%lld %lld %d %u %u %lld %d %ld %x %ld\\n\", (long long){p}s.a, (long long){p}s.b, {p}s.bits, {p}s.flag, {p}s.wide, (long long){p}s.d, {p}s.inner.x, {p}s.inner.y, {p}u.word, {p}sum({p}t, 3));"
        );
        let _ =
            writeln!(out, "    printf(\"%zu %zu %d\\n\", sizeof {p}s, _Alignof(struct {p}S), {p}ptr == &{p}s);\n}}\n");
    }
}
