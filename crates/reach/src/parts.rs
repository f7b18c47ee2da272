//! What states are made of, each part kept once (Holzmann 1997: collapse compression).
//!
//! While workers look at a batch of states the table does not change: what a worker meets that is not in it gets a number for that batch, and the real one
//! when the batch is put together. So nobody waits for anybody, and numbers do not depend on who was faster.

use crate::semantics::Part;
use rustc_hash::FxHashMap;

/// Parts by number.
#[derive(Clone, Debug)]
pub struct Parts<P> {
    list: Vec<P>,
    numbers: FxHashMap<P, u32>,
}

/// Numbers from here on are those of one batch.
const OWN: u32 = 1 << 31;

/// Whether this is the number of a part for one batch.
pub(crate) fn is_own(number: u32) -> bool {
    number & OWN != 0
}

impl<P: Part> Parts<P> {
    /// No parts.
    pub(crate) fn new() -> Self {
        Parts { list: Vec::new(), numbers: FxHashMap::default() }
    }

    /// All of them, by number.
    pub fn list(&self) -> &[P] {
        &self.list
    }

    pub(crate) fn get(&self, number: u32) -> &P {
        &self.list[number as usize]
    }

    /// The number of a part, if it has one.
    pub(crate) fn find(&self, part: &P) -> Option<u32> {
        part.number().or_else(|| self.numbers.get(part).copied())
    }

    /// The number of a part, a new one if need be.
    fn number(&mut self, mut part: P) -> u32 {
        if let Some(&number) = self.numbers.get(&part) {
            return number;
        }
        let number = self.list.len() as u32;
        part.remember(number);
        self.list.push(part.clone());
        self.numbers.insert(part, number);
        number
    }
}

/// Parts by number and numbers of parts, while a batch is looked at.
#[derive(Debug)]
pub struct Numbers<'n, P> {
    pub(crate) known: &'n Parts<P>,
    pub(crate) new: &'n mut NewParts<P>,
}

impl<P: Part> Numbers<'_, P> {
    /// The part with this number.
    pub fn get(&self, number: u32) -> &P {
        if number & OWN == 0 { self.known.get(number) } else { &self.new.list[(number & !OWN) as usize] }
    }

    /// The number of a part.
    pub fn number(&mut self, part: &P) -> u32 {
        self.new.number(self.known, part)
    }
}

/// The parts that one batch met first.
#[derive(Debug)]
pub struct NewParts<P> {
    list: Vec<P>,
    numbers: FxHashMap<P, u32>,
}

impl<P: Part> NewParts<P> {
    pub(crate) fn new() -> Self {
        NewParts { list: Vec::new(), numbers: FxHashMap::default() }
    }

    /// The number of a part, for this batch.
    pub(crate) fn number(&mut self, known: &Parts<P>, part: &P) -> u32 {
        if let Some(number) = known.find(part) {
            return number;
        }
        if let Some(&number) = self.numbers.get(part) {
            return number;
        }
        let number = OWN | self.list.len() as u32;
        self.list.push(part.clone());
        self.numbers.insert(part.clone(), number);
        number
    }

    /// Makes them known; the answer says which number each has.
    pub(crate) fn settle(&mut self, known: &mut Parts<P>) -> Settled {
        self.numbers.clear();
        Settled(self.list.drain(..).map(|part| known.number(part)).collect())
    }
}

/// The numbers that the parts of a batch have got.
#[derive(Debug)]
pub struct Settled(Vec<u32>);

impl Settled {
    /// The number of a part, which may have had one for the batch.
    pub fn number(&self, number: u32) -> u32 {
        if number & OWN == 0 { number } else { self.0[(number & !OWN) as usize] }
    }
}
