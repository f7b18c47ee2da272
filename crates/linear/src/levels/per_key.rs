//! Release-acquire: the writes of each key can be put into one order that nobody's past contradicts.
//!
//! A write of a key that lies in the past of a read comes before the write that was read, and what causality orders stays in that order; for each key on its own this must have no cycle.
//! Any order that extends it is as good as any other (Lahav, Giannarakis, Vafeiadis 2016). Of the writes that lie in a past only the last of each process counts.
//!
//! Cost: operations times processes.

use rustc_hash::FxHashMap;

use super::{Acts, Why};
use crate::value::ValueId;

impl Acts {
    pub(super) fn settled_by_key(&self) -> Result<(), Why> {
        let order = self.causal()?;
        let mut of_key: FxHashMap<ValueId, Vec<u32>> = FxHashMap::default();
        for (number, act) in (0u32..).zip(&self.acts).filter(|(_, act)| act.writes) {
            of_key.entry(act.key).or_default().push(number);
        }
        // For each write those that come before it.
        let mut earlier: Vec<Vec<u32>> = vec![Vec::new(); self.acts.len()];
        for (number, act) in (0u32..).zip(&self.acts) {
            let later = if act.writes { Some(number) } else { self.source[number as usize] };
            if let Some(write) = later {
                earlier[write as usize].extend(self.before(&order, number));
            }
        }
        let mut keys: Vec<&Vec<u32>> = of_key.values().collect();
        keys.sort_unstable();
        for writes in keys {
            if let Some(cycle) = cycle(writes, &earlier) {
                return Err(Why::Cycle(self.ids(&cycle)));
            }
        }
        Ok(())
    }
}

/// A cycle among these, each before the next.
fn cycle(writes: &[u32], earlier: &[Vec<u32>]) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Open,
        Done,
    }
    let mut seen: FxHashMap<u32, Seen> = FxHashMap::default();
    for &start in writes {
        if seen.contains_key(&start) {
            continue;
        }
        // The way back from the start, and how many of the edges of each have been looked at.
        let mut way = vec![(start, 0)];
        seen.insert(start, Seen::Open);
        while let Some((at, looked)) = way.last_mut() {
            let Some(&next) = earlier[*at as usize].get(*looked) else {
                seen.insert(*at, Seen::Done);
                way.pop();
                continue;
            };
            *looked += 1;
            match seen.get(&next) {
                None => {
                    seen.insert(next, Seen::Open);
                    way.push((next, 0));
                }
                Some(Seen::Open) => {
                    let from = way.iter().position(|&(at, _)| at == next)?;
                    return Some(way[from..].iter().rev().map(|&(at, _)| at).collect());
                }
                Some(Seen::Done) => {}
            }
        }
    }
    None
}
