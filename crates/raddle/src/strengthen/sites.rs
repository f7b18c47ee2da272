//! What can be made weaker or stronger: the orderings of atomic accesses and fences, and fences that are not there yet.
//!
//! A site is a place in the text. In `.rdl` every operation has its own; in C, where macros hide the column, all operations of one kind on a line are one site, since nobody could tell them apart
//! in the text. What is no atomic access stays what it is.

use raddle_program::{Inst, Op, Ordering, Program, Span};

/// What a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A fence of the program; relaxed means that it is not needed.
    Fence,
    /// A fence behind an access where there is none; relaxed means that there is still none.
    Added,
    /// An update or a compare-exchange.
    Update,
    Store,
    Load,
    /// What a compare-exchange is where it fails.
    Failure,
}

impl Kind {
    /// The orderings there are for it, no stronger one before a weaker one.
    pub(crate) fn orders(self) -> &'static [Ordering] {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match self {
            Kind::Fence | Kind::Update => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
            Kind::Added => &[Relaxed, SeqCst],
            Kind::Store => &[Relaxed, Release, SeqCst],
            Kind::Load | Kind::Failure => &[Relaxed, Acquire, SeqCst],
        }
    }

    /// What makes it part of release and acquire.
    pub(crate) fn release_acquire(self) -> Ordering {
        match self {
            Kind::Fence | Kind::Update => Ordering::AcqRel,
            Kind::Added => Ordering::Relaxed,
            Kind::Store => Ordering::Release,
            Kind::Load | Kind::Failure => Ordering::Acquire,
        }
    }

    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Fence | Kind::Added => "fence",
            Kind::Update => "update",
            Kind::Store => "store",
            Kind::Load => "load",
            Kind::Failure => "failed compare-exchange",
        }
    }
}

/// Whether one ordering is weaker than another one.
pub(crate) fn weaker(a: Ordering, b: Ordering) -> bool {
    let includes =
        |order: Ordering| (order.acquires(), order.releases(), order == Ordering::SeqCst, order != Ordering::NonAtomic);
    let ((aa, ar, asc, at), (ba, br, bsc, bt)) = (includes(a), includes(b));
    a != b && aa <= ba && ar <= br && asc <= bsc && at <= bt
}

/// A place whose ordering can be another one.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// What it is in the program as it stands.
    pub(crate) order: Ordering,
    /// Its instructions: function, block and position.
    at: Vec<[usize; 3]>,
}

/// The sites of a program, in the order of the text. With `added`, a fence behind every atomic access is one, too.
pub(crate) fn find(program: &Program, by_line: bool, added: bool) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut note = |kind: Kind, span: Span, order: Ordering, at: [usize; 3]| {
        let same = |known: &&mut Site| {
            let (a, b) = (known.span, span);
            known.kind == kind && (a.file, a.line) == (b.file, b.line) && (by_line || a.column == b.column)
        };
        match sites.iter_mut().find(same) {
            Some(known) => {
                known.at.push(at);
                // What stands on one line with different orderings is as strong as the strongest.
                if weaker(known.order, order) {
                    known.order = order;
                }
            }
            None => sites.push(Site { kind, span, order, at: vec![at] }),
        }
    };
    for (function, body) in program.functions.iter().enumerate() {
        for (block, content) in body.blocks.iter().enumerate() {
            for (position, Inst { op, span }) in content.insts.iter().enumerate() {
                let at = [function, block, position];
                if !is_own(program, *span) {
                    continue;
                }
                let (kind, order) = match *op {
                    Op::Load { order, .. } => (Kind::Load, order),
                    Op::Store { order, .. } => (Kind::Store, order),
                    Op::Rmw { order, .. } => (Kind::Update, order),
                    Op::Cas { success, failure, .. } => {
                        note(Kind::Failure, *span, failure, at);
                        (Kind::Update, success)
                    }
                    Op::Fence { order } => (Kind::Fence, order),
                    _ => continue,
                };
                if order != Ordering::NonAtomic {
                    note(kind, *span, order, at);
                    if added && kind != Kind::Fence {
                        note(Kind::Added, *span, Ordering::Relaxed, at);
                    }
                }
            }
        }
    }
    sites.sort_by_key(|site| (site.span.file, site.span.line, site.span.column, site.kind));
    sites
}

/// Whether the text there is the user's: not the model of the library, not a header of the system.
fn is_own(program: &Program, span: Span) -> bool {
    let file = program.sources.files.get(span.file as usize);
    span.line > 0
        && file.is_some_and(|file| !file.text.is_empty() && !file.name.starts_with(['<', '/']) || span.file == 0)
}

/// The program with these orderings at its sites.
pub(crate) fn apply(program: &Program, sites: &[Site], orders: &[Ordering]) -> Program {
    let mut changed = program.clone();
    let mut fences = Vec::new();
    for (site, &order) in sites.iter().zip(orders) {
        for &[function, block, position] in &site.at {
            if site.kind == Kind::Added {
                if order != Ordering::Relaxed {
                    fences.push(([function, block, position], order));
                }
                continue;
            }
            let inst = &mut changed.functions[function].blocks[block].insts[position];
            match (&mut inst.op, site.kind) {
                (Op::Cas { failure, .. }, Kind::Failure) => *failure = order,
                (Op::Cas { success, .. }, _) => *success = order,
                (
                    Op::Load { order: own, .. }
                    | Op::Store { order: own, .. }
                    | Op::Rmw { order: own, .. }
                    | Op::Fence { order: own },
                    _,
                ) => *own = order,
                _ => {}
            }
        }
    }
    // From the end, so that positions stay what they are.
    fences.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    for ([function, block, position], order) in fences {
        let insts = &mut changed.functions[function].blocks[block].insts;
        let span = insts[position].span;
        insts.insert(position + 1, Inst { op: Op::Fence { order }, span });
    }
    changed
}
