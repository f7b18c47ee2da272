//! The book says what is true: its pages are all in the summary, its links lead somewhere, the transcripts in it and in the README
//! are what the command prints, and every engine, switch, command and option is in it.

mod common;

use common::{raddle, root};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The README and other pages at the top, and those of the book, by their paths from the top.
fn pages() -> Vec<String> {
    let book = fs::read_dir(root().join("docs")).expect("the book");
    let names = book.map(|entry| entry.expect("a file").file_name().into_string().expect("a name in plain letters"));
    let book = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    top.into_iter().chain(book).collect()
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

fn events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// Where a page links to.
fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { link_type, dest_url, .. }) if link_type != LinkType::Autolink => {
            Some(dest_url.into_string())
        }
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    };
    events(text).filter_map(link).collect()
}

/// The names by which the headings of a page can be linked to.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let words = heading.take().expect("it began");
                let kept = words.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
                found.insert(kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect());
            }
            Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|words| words.push_str(&text)),
            _ => {}
        }
    }
    found
}

#[test]
fn every_page_is_in_the_summary() {
    let listed: BTreeSet<String> = links(&read("docs/SUMMARY.md")).into_iter().collect();
    let names = pages().into_iter().filter_map(|page| page.strip_prefix("docs/").map(str::to_owned));
    let missing: Vec<String> = names.filter(|name| name != "SUMMARY.md" && !listed.contains(name)).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = Path::new(&page).parent().expect("a page is in a folder");
            let target = if file.is_empty() { PathBuf::from(&page) } else { folder.join(file) };
            checked += 1;
            if !root().join(&target).exists() {
                wrong.push(format!("{page}: {link}: there is no such file"));
            } else if !anchor.is_empty() {
                let known = anchors(&fs::read_to_string(root().join(&target)).expect("a page"));
                if !known.contains(anchor) {
                    wrong.push(format!("{page}: {link}: the headings there are {known:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 50, "only {checked} links");
}

/// A transcript on a page: the words of the command, and what it is said to print.
fn transcripts(text: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for event in events(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => inside = true,
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(block) if inside => {
                let Some((command, output)) = block.split_once('\n') else { continue };
                let command = command.strip_prefix("$ raddle ").or(command.strip_prefix("$ cargo run --release -- "));
                let Some(command) = command else { continue };
                let words = command.split_whitespace().map(str::to_owned).collect();
                found.push((words, output.trim_end().to_owned()));
            }
            _ => {}
        }
    }
    found
}

/// What stays the same from run to run: no times, no amounts of memory, and nothing that a release build does not count.
fn steady(text: &str) -> String {
    let ends = [" blocked, ", " clauses, ", " ends, ", " end, "];
    let line = |line: &str| match ends.iter().find_map(|end| line.split_once(end)) {
        Some((counts, _)) => counts.to_owned(),
        None if line.trim_end().ends_with(" s") => {
            let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            let kept = cells[..cells.len() - 1].iter().enumerate().filter(|&(column, _)| column != 4);
            kept.map(|(_, cell)| *cell).collect::<Vec<_>>().join(" | ")
        }
        None => {
            let is_time = |cell: &&str| cell.strip_suffix(" s").is_some_and(|number| number.parse::<f64>().is_ok());
            let cells = line.trim_end().split("  ").map(str::trim).filter(|cell| !cell.is_empty() && !is_time(cell));
            cells.collect::<Vec<_>>().join(" ")
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn transcripts_are_what_the_command_prints() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        for (words, said) in transcripts(&read(&page)) {
            let args: Vec<&str> = words.iter().map(String::as_str).collect();
            let printed = raddle(&args).stdout;
            checked += 1;
            if steady(&printed) != steady(&said) {
                wrong.push(format!("{page}: raddle {} prints\n{printed}", words.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 6, "only {checked} transcripts");
}

#[test]
fn every_engine_and_switch_is_in_the_book() {
    let (reference, table) = (read("docs/command-line.md"), read("docs/engines.md"));
    for engine in raddle::ENGINES.iter() {
        let name = engine.name();
        let page = read(&format!("docs/{name}.md"));
        assert!(reference.contains(&format!("[`{name}`]({name}.md)")), "{name} in docs/command-line.md");
        let counted = engine.equivalence().has_classes();
        assert!(!counted || table.contains(&format!(" {name}: classes |")), "{name} in docs/engines.md");
        for switch in engine.switches() {
            assert!(page.contains(&format!("`{}=", switch.key)), "{} in docs/{name}.md", switch.key);
            assert!(reference.contains(&format!("`{}`", switch.key)), "{} in docs/command-line.md", switch.key);
        }
    }
}

/// The words of a help text that begin so, at the beginnings of lines; the `]` behind an alias that a new line begins with is none of it, nor is a value that may be left out.
fn listed<'t>(help: &'t str, begins: &str) -> Vec<&'t str> {
    let firsts = help.lines().filter_map(|line| line.split_whitespace().find(|word| !is_short(word)));
    let bare = |word: &'t str| word.trim_end_matches(']').split("[=").next().unwrap_or(word);
    firsts.filter(|word| word.starts_with(begins)).map(bare).collect()
}

/// `-m,` before `--model`.
fn is_short(word: &str) -> bool {
    word.len() == 3 && word.starts_with('-') && word.ends_with(',')
}

#[test]
fn every_command_and_option_is_in_the_book() {
    let help = raddle(&["--help"]).stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    let reference = read("docs/command-line.md");
    let (readme, listed_pages) = (read("README.md"), pages());
    let mut missing = Vec::new();
    let mut checked = 0;
    for command in commands.into_iter().filter(|command| *command != "help") {
        let named = format!("raddle {command} ");
        if !reference.contains(&named) || !readme.contains(&named) {
            missing.push(format!("{named}in docs/command-line.md and in the README"));
        }
        let own = format!("docs/{}.md", if command == "lin" { "linear" } else { command });
        let own = if listed_pages.contains(&own) { read(&own) } else { String::new() };
        let help = raddle(&[command, "--help"]).stdout;
        for option in listed(&help, "--").into_iter().filter(|option| *option != "--help") {
            checked += 1;
            if ![&reference, &own]
                .iter()
                .any(|page| page.contains(&format!("{option} ")) || page.contains(&format!("{option}`")))
            {
                missing.push(format!("{named}{option}"));
            }
        }
    }
    assert!(missing.is_empty(), "not in the book: {missing:#?}");
    assert!(checked > 60, "only {checked} options");
}
