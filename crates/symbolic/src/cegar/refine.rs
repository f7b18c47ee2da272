//! What to know next: from a way that is not possible to a precision in which it is not there.
//!
//! * *Values*: going back from the parts of guards that contradict each other, the variables that they depend on. As few of them are taken as are enough (explicit interpolation by deletion).
//! * *Predicates*: weakest preconditions of the same parts, from the end to the start (Newton style, Telbisz 2024 section 4.4 of our notes on it, variant b): `H` before an action holds if one of its parts is
//!   false or `H` behind it holds, so `H` at the start holds, and false is behind the end. Their atoms are the new predicates; where these do not do, because a disjunction is needed, whole `H`.
//!   What is said of an input that is given in the action is said of those of its values that matter, if these are few, and left out otherwise; so are variables that make no difference.
//!
//! Neither needs quantifiers: an action says what every variable becomes. Whatever is proposed is tried: only a precision in which the way is gone is taken, so that the next graph is another one. If none is found, the
//! engine says so.

use super::abstraction::{Abstract, Precision, World};
use super::graph::Graph;
use super::path::{Action, Halt};
use super::vars::{Kind, Var};
use raddle_solve::Term;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Which of the two come first, or alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    /// Values; predicates where values do not do or are too many.
    Both,
    /// Values alone.
    Values,
    /// Predicates; values where predicates do not do.
    Predicates,
}

/// For how many values of an input something is said one by one.
const MOST_INPUTS: usize = 8;
/// How often fewer predicates are tried.
const MOST_TRIES: usize = 60;

impl World<'_> {
    /// Sharpens the precision so that these actions, of which these parts contradict each other, are no way any more. False if nothing was found.
    pub(super) fn refine(&mut self, trace: &[Rc<Action>], core: &[Vec<Term>], domain: Domain) -> Result<bool, Halt> {
        let values = self.value_candidates(trace, core);
        let before = self.precision.clone();
        if domain != Domain::Predicates && self.try_values(trace, &values)? {
            return Ok(true);
        }
        if domain == Domain::Values {
            self.precision = before;
            return Ok(false);
        }
        let whole = self.preconditions(trace, core)?;
        let mut atoms: Vec<Term> = Vec::new();
        for &term in &whole {
            atoms.extend(self.terms.atoms(term));
        }
        for candidates in [atoms, whole] {
            for with_values in [false, true] {
                self.precision = before.clone();
                if with_values {
                    self.precision.kinds.extend(values.iter().filter(|kind| !before.banned.contains(kind)));
                }
                if self.try_predicates(trace, &candidates)? {
                    if with_values {
                        self.drop_values(trace, &values)?;
                    }
                    return Ok(true);
                }
            }
        }
        // Values of variables that have too many are better than nothing.
        self.precision = before.clone();
        self.precision.kinds.extend(values.iter().copied());
        self.precision.banned.retain(|kind| !values.contains(kind));
        if domain == Domain::Predicates && self.is_gone(trace)? {
            self.drop_values(trace, &values)?;
            return Ok(true);
        }
        self.precision = before;
        Ok(false)
    }

    /// The variables that the contradiction depends on.
    fn value_candidates(&self, trace: &[Rc<Action>], core: &[Vec<Term>]) -> BTreeSet<Kind> {
        let mut found = BTreeSet::new();
        let mut wanted: BTreeSet<Var> = BTreeSet::new();
        for (action, parts) in trace.iter().zip(core).rev() {
            let changed: FxHashMap<Var, Term> = action.updates.iter().copied().collect();
            let mut before: BTreeSet<Var> = BTreeSet::new();
            for var in wanted {
                found.insert(var.kind());
                match changed.get(&var) {
                    Some(&term) => before.extend(self.vars_of([term])),
                    None => drop(before.insert(var)),
                }
            }
            before.extend(self.vars_of(parts.iter().copied()));
            wanted = before;
        }
        found.extend(wanted.into_iter().map(Var::kind));
        found.retain(|kind| !self.precision.kinds.contains(kind) && !self.precision.needed.contains(kind));
        found
    }

    fn vars_of(&self, terms: impl IntoIterator<Item = Term>) -> Vec<Var> {
        self.terms.variables(terms).into_iter().filter_map(|term| self.vars.var(term)).collect()
    }

    fn try_values(&mut self, trace: &[Rc<Action>], values: &BTreeSet<Kind>) -> Result<bool, Halt> {
        let before = self.precision.clone();
        let allowed: BTreeSet<Kind> = values.iter().copied().filter(|kind| !before.banned.contains(kind)).collect();
        self.precision.kinds.extend(allowed.iter().copied());
        if allowed.is_empty() || !self.is_gone(trace)? {
            self.precision = before;
            return Ok(false);
        }
        self.drop_values(trace, &allowed)?;
        Ok(true)
    }

    /// Leaves out values that are not needed.
    fn drop_values(&mut self, trace: &[Rc<Action>], values: &BTreeSet<Kind>) -> Result<(), Halt> {
        for kind in values {
            if self.precision.kinds.remove(kind) && !self.is_gone(trace)? {
                self.precision.kinds.insert(*kind);
            }
        }
        Ok(())
    }

    fn try_predicates(&mut self, trace: &[Rc<Action>], candidates: &[Term]) -> Result<bool, Halt> {
        let old = self.precision.predicates.len();
        for &candidate in candidates {
            let candidate = self.without_idle(candidate)?;
            let vars = self.terms.variables([candidate]);
            let known: Vec<Var> = vars.iter().filter_map(|&term| self.vars.var(term)).collect();
            if known.len() == vars.len() && !known.is_empty() && !self.precision.has(candidate) {
                self.precision.predicates.push((candidate, known));
            }
        }
        if self.precision.predicates.len() == old || !self.is_gone(trace)? {
            return Ok(false);
        }
        let (mut at, mut tries) = (old, 0);
        while at < self.precision.predicates.len() && tries < MOST_TRIES {
            tries += 1;
            let one = self.precision.predicates.remove(at);
            if !self.is_gone(trace)? {
                self.precision.predicates.insert(at, one);
                at += 1;
            }
        }
        Ok(true)
    }

    /// A predicate without variables that make no difference to it: whether twice something is even says nothing of that. Fewer variables are fewer that abstract states know of.
    fn without_idle(&mut self, predicate: Term) -> Result<Term, Halt> {
        let mut predicate = predicate;
        let vars = self.terms.variables([predicate]);
        for &var in vars.iter().filter(|_| vars.len() > 1) {
            let width = self.terms.width(var);
            let (other, zero) = (self.terms.var(width), self.terms.constant(width, 0));
            let put = |world: &mut Self, with: Term| {
                let replaced = |term: Term| (term == var).then_some(with);
                world.terms.replace(predicate, &replaced, &mut FxHashMap::default())
            };
            let (changed, fixed) = (put(self, other), put(self, zero));
            let differs = self.terms.xor(predicate, changed);
            if !self.can_hold(&[differs])? {
                predicate = fixed;
            }
        }
        Ok(predicate)
    }

    /// What has to hold before each action so that the rest is not possible; the last ones first, false and true left out.
    fn preconditions(&mut self, trace: &[Rc<Action>], core: &[Vec<Term>]) -> Result<Vec<Term>, Halt> {
        let mut holds = self.terms.bool(false);
        let mut all = Vec::new();
        for (action, parts) in trace.iter().zip(core).rev() {
            let mut with: FxHashMap<Term, Term> = FxHashMap::default();
            for &(var, value) in &action.updates {
                with.insert(self.vars.term(self.code, &mut self.terms, var), value);
            }
            holds = self.terms.replace(holds, &|var| with.get(&var).copied(), &mut FxHashMap::default());
            for &part in parts {
                let not = self.terms.not(part);
                holds = self.terms.or(holds, not);
            }
            holds = self.for_all_inputs(holds)?;
            if self.terms.as_const(holds).is_none() && !all.contains(&holds) {
                all.push(holds);
            }
        }
        Ok(all)
    }

    /// That something holds whatever inputs are given. It holds for some values of them, and these are found one by one: those for which it might not hold if it does for the others. Where that takes
    /// too many, it is left as it is.
    fn for_all_inputs(&mut self, holds: Term) -> Result<Term, Halt> {
        let mut holds = holds;
        let inputs: Vec<Term> =
            self.terms.variables([holds]).into_iter().filter(|&term| self.vars.var(term).is_none()).collect();
        for input in inputs {
            let mut all = self.terms.bool(true);
            let not = self.terms.not(holds);
            let mut left = MOST_INPUTS;
            while let Some(value) = self.example(&[all, not], input)? {
                if left == 0 {
                    return Ok(holds);
                }
                left -= 1;
                let value = self.terms.constant(self.terms.width(input), value);
                let with = |term: Term| (term == input).then_some(value);
                let one = self.terms.replace(holds, &with, &mut FxHashMap::default());
                all = self.terms.and(all, one);
            }
            holds = all;
        }
        Ok(holds)
    }

    /// Whether a way is none in the precision as it is.
    pub(super) fn is_gone(&mut self, trace: &[Rc<Action>]) -> Result<bool, Halt> {
        let graph = Graph::new(self)?;
        self.is_impossible(&graph.nodes[0].state, trace.iter())
    }

    /// Whether a way from a state is none.
    pub(super) fn is_impossible<'a>(
        &mut self,
        from: &Abstract,
        way: impl Iterator<Item = &'a Rc<Action>>,
    ) -> Result<bool, Halt> {
        let mut state = from.clone();
        for action in way {
            let action = self.sharper(action, &state.known);
            let facts = self.facts(&state);
            match self.post(&state, &facts, &action)? {
                Some(next) => state = next,
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Says of variables that they have too many values.
    pub(super) fn ban(&mut self, these: &[Kind]) {
        let Precision { kinds, banned, .. } = &mut self.precision;
        for kind in these {
            kinds.remove(kind);
            banned.insert(*kind);
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use raddle_machine::compile::{AllShared, Options};
    use raddle_solve::{Stop, eval};
    use raddle_trace::ThreadId;

    /// What is said of three values of an input is said of a variable, and what is said of very many is left as it is.
    #[test]
    fn what_is_said_of_few_values_of_an_input_is_said_without_it() {
        let program = raddle_program::parse("test.rdl", "global x: i32; fn main() {}", &[]).expect("it is right");
        let code = raddle_machine::compile(&program, &AllShared, &Options::default());
        let mut world = World::new(&code, &Stop::new());
        let input = world.vars.input(&mut world.terms, ThreadId::MAIN, 0, 32);
        let var = world.vars.term(&code, &mut world.terms, Var::Result(ThreadId::MAIN));
        let low = world.terms.extract(var, 0, 32);
        let mut for_inputs_below = |end: u64| {
            let end = world.terms.constant(32, end);
            let (small, differs) = (world.terms.ult(input, end), world.terms.ne(low, input));
            let not_small = world.terms.not(small);
            let holds = world.terms.or(not_small, differs);
            let said = world.for_all_inputs(holds).unwrap_or_else(|_| panic!("nobody stops it"));
            let values = (0..5).map(|value| eval(&world.terms, &FxHashMap::from_iter([(var, value)]), said));
            (world.terms.variables([said]).contains(&input), values.collect::<Vec<u64>>())
        };
        assert_eq!(for_inputs_below(3), (false, vec![0, 0, 0, 1, 1]));
        assert!(for_inputs_below(1_000).0);
    }
}
