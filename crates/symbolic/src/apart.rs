//! In which programs two accesses race if, and only if, both can be next at the same time.
//!
//! That is so where threads synchronise by acquire, release and locks that are waited for (see the engine `explicit`). Accesses in atomic blocks count as atomic, and a block comes after those whose
//! writes it reads: a block is a critical section of one lock that all blocks share, as long as nobody gets to know of it in another way. So nothing outside of blocks may be atomic that is accessed
//! by ordinary instructions, too, and no thread is started or waited for, and no lock taken, inside of a block; the engines refuse these when they come to them.

use raddle_engine::{Question, Refusal};
use raddle_machine::Code;
use raddle_machine::code::{Instr, Pc};
use raddle_machine::points::{self, Place, Pointers};
use raddle_program::Ordering;
use raddle_trace::Model;

/// Refuses a question about races that an engine cannot answer in this way.
pub(crate) fn refuse(engine: &str, question: &Question<'_>) -> Result<(), Refusal> {
    let Question { code, options } = question;
    let instead = "--no race leaves races out, --engine optimal finds them";
    if let Some(pc) = code.weak_synchronisation() {
        let message = format!(
            "the engine `{engine}` finds races only where threads synchronise by acquire, release and locks that are waited for, which this does not; {instead}"
        );
        return Err(Refusal::at(code, pc, message));
    }
    if !code.has_atomic_blocks() {
        return Ok(());
    }
    if options.model != Model::Sc {
        let message = format!("the engine `{engine}` looks for races beside atomic blocks under sc only; {instead}");
        return Err(Refusal::whole(code, message));
    }
    if let Some(pc) = atomic_and_not(code) {
        let message = format!(
            "the engine `{engine}` does not look for races beside atomic blocks and atomic accesses to the same memory; {instead}"
        );
        return Err(Refusal::at(code, pc, message));
    }
    Ok(())
}

/// Whether an instruction may wait, or lets others know of what its thread has done in another way than by accesses.
pub(crate) fn meets_others(code: &Code, pc: Pc) -> bool {
    match code.instr(pc) {
        Instr::Spawn { .. } | Instr::SpawnIndirect { .. } | Instr::Join { .. } | Instr::Sync { .. } => true,
        Instr::Spin { .. } => true,
        Instr::Load { wait, .. } => wait != 0,
        Instr::Rmw { idle, .. } => idle != 0,
        Instr::Cas { cas } => code.cas(cas).wait,
        _ => false,
    }
}

/// Why such an instruction inside of a block is refused.
pub(crate) const MEETS_OTHERS: &str = "races are not looked for beside atomic blocks in which threads are started or waited for, locks are used, or loops wait; --no race leaves them out";

/// An atomic access to an object that is accessed by ordinary instructions, too.
fn atomic_and_not(code: &Code) -> Option<Pc> {
    let pointers = Pointers::new(code);
    let is_atomic = |pc: Pc| match code.instr(pc) {
        Instr::Load { order, .. } | Instr::Store { order, .. } | Instr::Rmw { order, .. } => {
            Some(order != Ordering::NonAtomic)
        }
        Instr::Cas { .. } => Some(true),
        _ => None,
    };
    let objects = |pc: Pc| {
        let mut all = pointers.none();
        points::accesses(code, pc, &mut |place, _| {
            if let Place::Memory(operand, _) = place {
                all.union_with(&pointers.of(code, pc, operand));
            }
        });
        all
    };
    let mut ordinary = pointers.none();
    (0..code.len()).filter(|&pc| is_atomic(pc) == Some(false)).for_each(|pc| ordinary.union_with(&objects(pc)));
    (0..code.len()).find(|&pc| is_atomic(pc) == Some(true) && objects(pc).intersection(&ordinary).next().is_some())
}
