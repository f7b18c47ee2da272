//! How the numbers of classes grow: one panel per program, one line per engine.

use super::cell::{Cell, measure};
use super::engines;
use crate::failure::Failure;
use crate::plot::Panel;
use raddle::Model;
use raddle_bench::catalogue::{Entry, Growth};
use std::time::Duration;

/// Counts the classes of all programs that are to be drawn. An engine that reaches the limit goes no further.
///
/// # Errors
/// If a program is not accepted or an engine contradicts itself.
pub(crate) fn panels(entries: &[Entry], limit: Duration) -> Result<Vec<Panel>, Failure> {
    let drawn = entries.iter().filter_map(|entry| Some((entry, entry.plot.as_ref()?)));
    drawn.map(|(entry, growth)| panel(entry, growth, limit)).collect()
}

fn panel(entry: &Entry, growth: &Growth, limit: Duration) -> Result<Panel, Failure> {
    let mut series = Vec::new();
    for engine in engines() {
        let mut points = Vec::new();
        for value in growth.values.clone() {
            let defines = [growth.at(value)];
            let title = entry.title(&defines);
            let program = entry.load(&defines).map_err(Failure::of(&title))?;
            let Cell::Done(explored) = measure(&title, &program, engine, Model::Sc, limit)? else { break };
            points.push((value, explored.classes));
        }
        anstream::eprintln!("{}: {} up to {:?}", entry.name, engine.name(), points.last());
        series.push((engine.name(), points));
    }
    Ok(Panel { title: entry.name.clone(), parameter: growth.parameter.clone(), series })
}
