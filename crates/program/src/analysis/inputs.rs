//! Which values of unknown inputs have to be explored?
//!
//! `x = input; assume 1 <= x && x <= 11;` asks for eleven values, `if (input) ...` for two, `input % 4` for four or seven. For each input the paths
//! from it are walked until it is used (`walk`), with the set of values that take each path (`values`) and what registers are in terms of
//! the input (`view`). What is found is exact in one direction: every value that is left out does nothing that is
//! not done by one that stays, or by no execution at all.
//!
//! An input of which more than [`MOST`] values stay is not enumerated: a few of them are taken, and the program says so
//! ([`Inputs::sampled`]), for then the exploration proves nothing. Somebody may say which values to explore ([`Inputs::range`]); the
//! verdict is about those then.
//!
//! Cost: linear in the paths from an input to its first use, cut off at a fixed number of instructions.

mod values;
mod view;
mod walk;

use crate::expr::Expr;
use crate::inst::Op;
use crate::program::{BlockId, FuncId, Program};
use crate::source::Span;
use crate::types::Type;
use values::Values;
use walk::{Facts, Site};

/// How many values of an input are enumerated without being asked for.
pub const MOST: u64 = 256;
/// How many are enumerated if they are asked for; an instruction has no more alternatives.
pub const MOST_ASKED: u64 = 1 << 16;
/// How many values of an input are tried if there are too many.
const SAMPLE: u64 = 4;

/// What is assumed of the unknown inputs of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The values to explore, as far as they fit the input's type; from the first to the second, both included.
    pub range: Option<(i64, i64)>,
    /// Whether there is an input that could have other values than these.
    pub restricted: bool,
    /// Inputs of which only some values are explored, because there are too many.
    pub sampled: Vec<Sampled>,
}

/// An input that has too many values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Where it is asked for.
    pub span: Span,
    /// How many values it may have that make a difference.
    pub values: u128,
    /// Those of them that are not explored one by one, from the first to the second of each pair (unsigned).
    pub rest: Vec<(u64, u64)>,
}

/// Decides for each input of the program which values are explored.
pub fn resolve_inputs(program: &mut Program) {
    let mut decided = Vec::new();
    let mut inputs = program.inputs.clone();
    let mut facts = Facts::new(program);
    for (site, span) in sites(program) {
        let all = Values::all(site.ty);
        let possible = inputs.range.map_or(all.clone(), |(low, high)| within(site.ty, site.signed, low, high));
        inputs.restricted |= possible != all;
        let most = if inputs.range.is_some() { MOST_ASKED } else { MOST };
        let mut needed = facts.needed(&site, &possible);
        if needed.count() > u128::from(most) {
            let few = needed.nearest(site.ty, site.signed, SAMPLE);
            let rest = needed.intersection(&few.complement(site.ty));
            inputs.sampled.push(Sampled { span, values: needed.count(), rest: rest.ranges().to_vec() });
            needed = few;
        } else if needed.is_empty() {
            // The program's own assumptions leave nothing; one value runs into them.
            needed = possible.nearest(site.ty, site.signed, 1);
        }
        decided.push((site, needed));
    }
    for (site, needed) in decided {
        let op = &mut program.functions[site.function.index()].blocks[site.block.index()].insts[site.inst].op;
        match op {
            // No value of the type was asked for.
            _ if needed.is_empty() => *op = Op::Assume { cond: Expr::bool(false) },
            Op::Input { values, .. } => *values = Some(needed.listed(site.ty, site.signed)),
            _ => {}
        }
    }
    program.inputs = inputs;
}

/// The inputs of which nobody has said which values to explore.
fn sites(program: &Program) -> Vec<(Site, Span)> {
    let mut sites = Vec::new();
    for (index, function) in program.functions.iter().enumerate() {
        for (at, block) in function.blocks.iter().enumerate() {
            for (inst, code) in block.insts.iter().enumerate() {
                if let Op::Input { dst, signed, values: None } = code.op {
                    let (function_id, block) = (FuncId(index as u32), BlockId(at as u32));
                    let ty = function.reg_type(dst);
                    sites.push((Site { function: function_id, block, inst, dst, ty, signed }, code.span));
                }
            }
        }
    }
    sites
}

/// The values of a type that lie in a range of numbers.
fn within(ty: Type, signed: bool, low: i64, high: i64) -> Values {
    if signed {
        let most = (ty.mask() >> 1) as i64;
        return Values::signed_range(ty, low.max(-most - 1), high.min(most));
    }
    match u64::try_from(high) {
        Ok(high) => Values::range(low.max(0) as u64, high.min(ty.mask())),
        Err(_) => Values::none(),
    }
}

#[cfg(test)]
mod tests;
