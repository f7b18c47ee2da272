//! How far the search got, for explanations.
//!
//! For each part: the furthest return that was reached and a few of the configurations that reached it. And, where there is one part only,
//! how each level was entered: the last level that is entered in one way, or in ways that leave no more freedom, is where an explanation
//! can begin.

use super::cursor::Cursor;
use super::layout::Layout;
use super::machine::Machine;
use super::mask::Mask;
use super::model::Model;
use super::refuted::Options;
use super::terms::{Certain, Window};

/// How many of the furthest configurations are kept.
const KEPT: usize = 4;

/// How a level was entered so far.
#[derive(Clone)]
enum Entered<K> {
    Never,
    Once(u32, Options<K>),
    Variously,
}

/// States, and what is left to do there.
type Reached<K> = Vec<(u32, Options<K>)>;

/// What is remembered of the search.
pub(super) struct Trail<K> {
    entered: Vec<Entered<K>>,
    /// Of each part, the furthest level, and states and options there.
    furthest: Vec<(u32, Reached<K>)>,
}

impl<K: Mask> Trail<K> {
    pub(super) fn new(layout: &Layout) -> Trail<K> {
        let levels = if layout.parts == 1 { layout.returns.len() } else { 0 };
        Trail { entered: vec![Entered::Never; levels], furthest: vec![(0, Vec::new()); layout.parts] }
    }

    /// Notes a configuration that was reached from one at level `from`. Levels that are only passed through are not certain.
    pub(super) fn note(&mut self, from: Option<u32>, level: u32, part: u32, state: u32, options: &Options<K>) {
        let (furthest, kept) = &mut self.furthest[part as usize];
        if level > *furthest {
            *furthest = level;
            kept.clear();
        }
        if level == *furthest && kept.len() < KEPT && !kept.iter().any(|known| known.0 == state && known.1 == *options)
        {
            kept.push((state, options.clone()));
        }
        let Some(from) = from else { return };
        if level == from || self.entered.is_empty() {
            return;
        }
        self.entered[from as usize + 1..level as usize].fill(Entered::Variously);
        let entered = &mut self.entered[level as usize];
        match entered {
            Entered::Never => *entered = Entered::Once(state, options.clone()),
            Entered::Once(known, best) if *known == state && best.at_least(options) => {}
            Entered::Once(known, best) if *known == state && options.at_least(best) => *best = options.clone(),
            _ => *entered = Entered::Variously,
        }
    }

    /// What there is to say about the part on which the search failed.
    pub(super) fn window<M: Model>(
        &self,
        layout: &Layout,
        machine: &Machine<'_, M>,
        cursor: &mut Cursor<K>,
        part: u32,
    ) -> Window<M::State> {
        let (furthest, kept) = &self.furthest[part as usize];
        let levels = self.entered.iter().enumerate().take(*furthest as usize + 1).rev();
        let certain = levels.into_iter().find_map(|(level, entered)| match entered {
            Entered::Once(state, options) => Some((level as u32, *state, options)),
            _ => None,
        });
        let certain = certain.map(|(level, state, options)| {
            cursor.stand_at(layout, level);
            let (done, spare) = taken(layout, cursor, part, options);
            let next = layout.returns[level as usize] as usize;
            Certain { next, state: machine.states[state as usize].clone(), done, spare }
        });
        cursor.stand_at(layout, *furthest);
        let before = kept.iter().map(|(state, options)| {
            let described = machine.model.describe(&machine.states[*state as usize]);
            (described, taken(layout, cursor, part, options).0)
        });
        Window { blocked: layout.returns[*furthest as usize] as usize, before: before.collect(), certain }
    }
}

/// The open operations on a part that have taken effect, and those that need not any more but may.
fn taken<K: Mask>(layout: &Layout, cursor: &Cursor<K>, part: u32, options: &Options<K>) -> (Vec<usize>, Vec<usize>) {
    let (mut done, mut spare) = (Vec::new(), Vec::new());
    cursor.each_on(layout, part, |op, slot| match (options.free.has(slot), options.usable.has(slot)) {
        (true, false) => done.push(op as usize),
        (true, true) if !layout.pending(op) => spare.push(op as usize),
        _ => {}
    });
    (done, spare)
}
