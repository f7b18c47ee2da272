//! How long does the front end take for a large preprocessed file?
//! `cargo run --release -p raddle-c --example speed -- [LINES]` makes one (10,000 lines by default) and measures it.

use raddle_c::{Options, compile_preprocessed};
use std::fmt::Write;
use std::time::Instant;

/// A file of about so many lines, every function of which is reached.
fn file(lines: usize) -> String {
    let mut text = "int printf(const char *, ...);\nstruct item { int key; long weight; struct item *next; unsigned flags : 5, rest : 11; };\n".to_owned();
    let mut count = 2;
    let mut functions = 0;
    while count < lines {
        let n = functions;
        let _ = write!(
            text,
            "static struct item items_{n}[16];\n\
             static int counter_{n};\n\
             static long work_{n}(struct item *item, int depth)\n\
             {{\n\
             \x20   long total = 0;\n\
             \x20   for (int i = 0; i < 16; i++) {{\n\
             \x20       if (item->key > i && (item->flags & 3) != 0) {{\n\
             \x20           total += item->weight * i - (long)item->rest;\n\
             \x20       }} else if (depth > 0) {{\n\
             \x20           total ^= items_{n}[i & 7].weight << (i & 3);\n\
             \x20           items_{n}[(i + 1) & 15].key += counter_{n}++;\n\
             \x20       }}\n\
             \x20       switch (item->key & 7) {{\n\
             \x20       case 0: total++; break;\n\
             \x20       case 1 ... 3: total -= depth; /* fall through */\n\
             \x20       default: item = item->next ? item->next : &items_{n}[i];\n\
             \x20       }}\n\
             \x20   }}\n\
             \x20   printf(\"%ld\\n\", total);\n\
             \x20   return total;\n\
             }}\n"
        );
        count += 21;
        functions += 1;
    }
    text.push_str("int main(void)\n{\n    long sum = 0;\n");
    for n in 0..functions {
        let _ = writeln!(text, "    sum += work_{n}(&items_{n}[0], {n});");
    }
    text.push_str("    return (int)sum;\n}\n");
    text
}

fn main() {
    let lines = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let text = file(lines);
    let mut times = Vec::new();
    let mut instructions = 0;
    for _ in 0..5 {
        let started = Instant::now();
        let compiled = compile_preprocessed("speed.i", &text, &Options::default()).expect("a program");
        times.push(started.elapsed());
        let blocks = compiled.program.functions.iter().flat_map(|f| &f.blocks);
        instructions = blocks.map(|b| b.insts.len() + 1).sum();
    }
    times.sort();
    println!(
        "{} lines, {} bytes, {instructions} instructions: {:?} (median of 5)",
        text.lines().count(),
        text.len(),
        times[2]
    );
}
