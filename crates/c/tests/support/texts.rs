//! Random calls of the library functions on characters, strings, numbers in strings, memory and arrays, that print what they return and what they leave.

use raddle_testkit::Random;
use std::fmt::Write;

const STRINGS: [&str; 12] =
    ["", "a", "abc", "hello", "hello world", "abcabc", "0x1F", "  -42z", "\\t077", "+9", "aaaa", "world"];

/// Several programs in one file.
pub(crate) fn file(seed: u64, programs: usize) -> String {
    let mut text = "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n#include <ctype.h>\n#include <stdarg.h>
static int sign(int x) { return (x > 0) - (x < 0); }
static long at(const char *s, const char *p) { return p ? p - s : -1; }
static void say(const char *s) { for (; *s; s++) putchar(*s); putchar('\\n'); }
struct pair { short key; char name; };
static int by_value(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return (x > y) - (x < y); }
static int by_key(const void *a, const void *b) { return ((const struct pair *)a)->key - ((const struct pair *)b)->key; }
static long long sum(const char *kinds, ...) {
    va_list list; va_start(list, kinds); long long total = 0;
    for (; *kinds; kinds++) switch (*kinds) {
        case 'i': total += va_arg(list, int); break;
        case 'l': total += va_arg(list, long); break;
        case 'u': total += va_arg(list, unsigned); break;
        case 'd': total += (long long)(va_arg(list, double) * 4); break;
        case 's': total += (long long)strlen(va_arg(list, char *)); break;
    }
    va_end(list); return total;
}\n"
        .to_owned();
    for index in 0..programs {
        let mut rng = Random::new(seed * 1000 + index as u64);
        let _ = writeln!(text, "static void p{index}_main(void) {{ char b[200]; int n; char *end; (void)n; (void)end;");
        for _ in 0..rng.between(6, 14) {
            let line = statement(&mut rng);
            let _ = writeln!(text, "    {{ {line} }}");
        }
        text.push_str("}\n");
    }
    text + &super::main_of_all(programs)
}

fn number(rng: &mut Random) -> String {
    match rng.below(5) {
        0 => "0".to_owned(),
        1 => format!("{}", rng.below(9)),
        2 => format!("-{}", rng.below(5000)),
        3 => format!("{}", rng.number() as i32 >> rng.below(31)),
        _ => format!("{}", rng.number() as i16),
    }
}

/// A conversion of `printf`, and an argument that it takes.
fn conversion(rng: &mut Random) -> (String, String) {
    let flags: String = (0..rng.below(3)).map(|_| rng.pick(&['-', '0', ' ', '+', '#'])).collect();
    let width = if rng.chance(50) { rng.below(12).to_string() } else { String::new() };
    // What starts with a zero is a flag.
    let width = width.trim_start_matches('0');
    let precision = match rng.below(4) {
        0 => format!(".{}", rng.below(6)),
        1 if rng.chance(30) => ".".to_owned(),
        _ => String::new(),
    };
    let (letter, argument) = match rng.below(12) {
        0 => ("c", format!("'{}'", rng.pick(&['a', 'Z', '7']))),
        1 | 2 => ("s", format!("\"{}\"", rng.pick(&STRINGS))),
        3 => ("hhd", number(rng)),
        4 => ("hx", number(rng)),
        5 => ("ld", format!("{}l", number(rng))),
        6 => ("llx", format!("{}ll", number(rng))),
        7 => ("o", number(rng)),
        8 => ("X", number(rng)),
        9 => ("u", number(rng)),
        _ => (rng.pick(&["d", "i"]), number(rng)),
    };
    // Of others these flags are not defined.
    let wanted = |flag: char| match letter {
        "c" | "s" => flag == '-',
        "d" | "i" | "hhd" | "ld" => flag != '#',
        "u" => flag == '-' || flag == '0',
        _ => "-0#".contains(flag),
    };
    let flags: String = flags.chars().filter(|&flag| wanted(flag)).collect();
    let precision = if letter == "c" { String::new() } else { precision };
    (format!("%{flags}{width}{precision}{letter}"), argument)
}

fn statement(rng: &mut Random) -> String {
    let (s, t) = (rng.pick(&STRINGS), rng.pick(&STRINGS));
    let c = rng.pick(&['a', 'o', 'l', 'z', '0', ' ']);
    let n = rng.below(8);
    match rng.below(26) {
        0 => format!("printf(\"%zu %zu\\n\", strlen(\"{s}\"), strnlen(\"{s}\", {n}));"),
        1 => format!("printf(\"%d %d\\n\", sign(strcmp(\"{s}\", \"{t}\")), sign(strncmp(\"{s}\", \"{t}\", {n})));"),
        2 => format!(
            "const char *s = \"{s}\"; printf(\"%ld %ld\\n\", at(s, strchr(s, '{c}')), at(s, strrchr(s, '{c}')));"
        ),
        3 => format!(
            "const char *s = \"{s}\"; printf(\"%ld %ld\\n\", at(s, strstr(s, \"{t}\")), at(s, strpbrk(s, \"{t}\")));"
        ),
        4 => format!("printf(\"%zu %zu\\n\", strspn(\"{s}\", \"{t}\"), strcspn(\"{s}\", \"{t}\"));"),
        5 => format!("strcpy(b, \"{s}\"); strcat(b, \"{t}\"); say(b); strncat(b, \"{t}\", {n}); say(b);"),
        6 => format!(
            "memset(b, '#', 32); strncpy(b, \"{s}\", {n}); b[16] = 0; for (n = 0; n < 16; n++) printf(\"%d \", b[n]); puts(\"\");"
        ),
        7 => format!(
            "strcpy(b, \"{s}{t}............\"); memmove(b + {n}, b, 4); say(b); memmove(b, b + {}, 5); say(b);",
            rng.below(4)
        ),
        8 => format!(
            "const char *s = \"{s}\"; printf(\"%d %ld\\n\", sign(memcmp(s, \"{t}\", {})), at(s, memchr(s, '{c}', {})));",
            s.len().min(t.len()).min(4).min(n),
            s.len().min(3)
        ),
        9..=14 => {
            let parts: Vec<(String, String)> = (0..rng.between(1, 3)).map(|_| conversion(rng)).collect();
            let formats: Vec<String> = parts.iter().map(|(format, _)| format!("[{format}]")).collect();
            let arguments: Vec<&str> = parts.iter().map(|(_, argument)| argument.as_str()).collect();
            let (formats, arguments) = (formats.concat(), arguments.join(", "));
            match rng.below(3) {
                0 => format!("n = sprintf(b, \"{formats}\", {arguments}); printf(\"%d \", n); say(b);"),
                1 => format!(
                    "n = snprintf(b, {}, \"{formats}\", {arguments}); printf(\"%d \", n); say(b);",
                    rng.between(1, 12)
                ),
                _ => {
                    format!("sprintf(b, \"%*d|%-*s|%.*s\", {n}, {}, {n}, \"{s}\", {n}, \"{t}\"); say(b);", number(rng))
                }
            }
        }
        15 | 16 => {
            let text = format!(
                "{}{}{}",
                rng.pick(&["", " ", "\\r", "\\v\\n"]),
                rng.pick(&["", "-", "+", "0x", "0"]),
                rng.pick(&["", "1", "99", "7fz", "8", "abc", "99999999999999999999"])
            );
            let base = rng.pick(&[0, 8, 10, 16, 2, 36]);
            let function = rng.pick(&["(long long)strtol", "(long long)strtoul", "strtoll", "(long long)strtoull"]);
            format!(
                "const char *s = \"{text}\"; printf(\"%lld\", {function}(s, &end, {base})); printf(\" %ld\\n\", at(s, end));"
            )
        }
        17 => format!("printf(\"%d %ld\\n\", atoi(\"{s}\"), atol(\"\\r{}\"));", number(rng)),
        18 => {
            let function = rng.pick(&[
                "isdigit", "isupper", "islower", "isalpha", "isalnum", "isxdigit", "isspace", "isprint", "ispunct",
            ]);
            format!("for (n = -1; n < 128; n++) putchar('0' + !!{function}(n)); puts(\"\");")
        }
        19 => format!(
            "for (n = 0; \"{s}\"[n]; n++) b[n] = {}(\"{s}\"[n]); b[n] = 0; say(b);",
            rng.pick(&["toupper", "tolower"])
        ),
        20 => {
            let values: Vec<String> = (0..rng.between(1, 7)).map(|_| rng.below(9).to_string()).collect();
            let values = values.join(", ");
            format!(
                "int v[] = {{ {values} }}, key = {n}; int count = sizeof v / sizeof *v; qsort(v, count, sizeof *v, by_value); for (n = 0; n < count; n++) printf(\"%d \", v[n]); printf(\"%d\\n\", bsearch(&key, v, count, sizeof *v, by_value) != 0);"
            )
        }
        21 => format!(
            "struct pair v[] = {{ {{ {n}, 'a' }}, {{ {}, 'b' }}, {{ -1, 'c' }}, {{ 20, 'd' }} }}; if (v[0].key != v[1].key) {{ qsort(v, 4, sizeof *v, by_key); for (n = 0; n < 4; n++) putchar(v[n].name); puts(\"\"); }}",
            rng.below(20)
        ),
        22 => format!(
            "printf(\"%lld\\n\", sum(\"ilduis\", {}, {}l, {}.25, {}u, (char){}, \"{s}\"));",
            number(rng),
            number(rng),
            rng.below(90),
            rng.below(90),
            number(rng)
        ),
        23 => format!(
            "printf(\"%d %ld %lld\\n\", abs({}), labs({}l), llabs({}ll));",
            number(rng),
            number(rng),
            number(rng)
        ),
        24 => format!(
            "char *p = strdup(\"{s}\"), *q = strtok(p, \"{} \"); while (q) {{ say(q); q = strtok(0, \" b\"); }} puts(\"\"); free(p);",
            rng.pick(&["a", "l", "b"])
        ),
        _ => format!(
            "strcpy(b, \"{s}\"); char *p = realloc(strcpy(malloc(20), b), {}); say(p); p = realloc(p, 40); strcat(p, \"{t}\"); say(p); free(p);",
            rng.between(14, 30)
        ),
    }
}
