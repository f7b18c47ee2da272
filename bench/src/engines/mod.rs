//! Engines side by side on the programs of `bench/programs`: `raddle-bench engines`.
//!
//! Every program is explored by every engine under every model, in this process, one after the other: [`cell`] measures one
//! such exploration, [`render`] makes the table of them. With `--doc` the same command writes the page of the book, and draws
//! ([`plot`]) how the numbers of classes grow on the programs that say so. Engines come from [`raddle::ENGINES`], programs from the
//! [catalogue](raddle_bench::catalogue), so a new one of either kind appears by itself.

pub(crate) mod cell;
mod plot;
mod render;

use crate::failure::Failure;
use cell::{Cell, measure};
use raddle::{ENGINES, Engine, Model};
use raddle_bench::catalogue::{self, Entry};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// What is compared.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only programs whose name contains this
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Only under this model
    #[arg(long)]
    model: Option<Model>,

    /// Give up after so many seconds for each program, engine and model
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    limit: Duration,

    /// Also draw the plot, and write both into the directory `docs`
    #[arg(long, conflicts_with_all = ["only", "model", "json"])]
    doc: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

/// A program under a model, and what each engine makes of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    /// The program with its parameters.
    pub(crate) program: String,
    /// The model.
    pub(crate) model: &'static str,
    /// What each of [`engines`] does, in their order.
    pub(crate) cells: Vec<Cell>,
}

/// The engines that are compared: all that do their own work.
pub(crate) fn engines() -> impl Iterator<Item = &'static dyn Engine> {
    ENGINES.iter().filter(|engine| engine.equivalence().has_classes())
}

/// Compares, and prints or writes down what comes out.
///
/// # Errors
/// If a program is not accepted, an engine contradicts itself, or a file cannot be written.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let entries = catalogue::entries()?;
    let wanted = |entry: &&Entry| args.only.as_ref().is_none_or(|only| entry.name.contains(only.as_str()));
    let models = args.model.map_or_else(|| Model::OPERATIONAL.to_vec(), |model| vec![model]);
    let mut lines = Vec::new();
    for entry in entries.iter().filter(wanted) {
        for &model in &models {
            let title = entry.title(&entry.table);
            let program = entry.load(&entry.table).map_err(Failure::of(&title))?;
            let cells = engines().map(|engine| measure(&title, &program, engine, model, args.limit));
            let line = Line { program: title.clone(), model: model.name(), cells: cells.collect::<Result<_, _>>()? };
            if !args.json {
                anstream::eprintln!("{} under {model}", line.program);
            }
            lines.push(line);
        }
    }
    if args.json {
        anstream::println!("{}", serde_json::to_string_pretty(&lines)?);
        return Ok(());
    }
    anstream::print!("{}", render::table(&lines));
    if args.doc {
        let panels = plot::panels(&entries, args.limit)?;
        write("engines.svg", &crate::plot::draw(&panels))?;
        write("engines.md", &render::page(&lines, &panels, args.limit))?;
    }
    Ok(())
}

pub(crate) fn write(name: &str, text: &str) -> Result<(), Failure> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "docs", name].iter().collect();
    std::fs::write(&path, text)?;
    anstream::eprintln!("wrote docs/{name}");
    Ok(())
}
