//! Function bodies: scopes, blocks, labels.
//!
//! Blocks come out in the order of the text. A label names the block that starts there; if the block so far is empty the
//! label takes it over, so that flat text gives exactly its own blocks. Code that cannot be reached is checked, then dropped.

use super::Report;
use super::ast::{Ast, Func, Name, Stmt, StmtKind};
use super::lower::{Items, header};
use super::names::did_you_mean;
use crate::expr::Expr;
use crate::inst::{Block, Inst, Op, Term, Terminator, Turn};
use crate::program::{BlockId, Function, Local, LocalId, Reg, RegDecl, drop_unreachable_blocks};
use crate::source::{Diagnostic, Span};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a name means inside a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    Reg(Reg),
    Local(LocalId),
    /// Declared, but its declaration was in error.
    Broken,
}

/// Where `break` and `continue` lead.
pub(super) struct Loop {
    pub(super) label: Option<String>,
    pub(super) leave: BlockId,
    pub(super) next: BlockId,
    /// How many atomic blocks are open around the loop.
    pub(super) atomic: u32,
}

struct Label {
    block: BlockId,
    defined: bool,
    used: Option<Span>,
}

pub(super) struct Body<'p, 'r> {
    pub(super) items: &'p Items,
    pub(super) report: &'r mut Report,
    pub(super) function: Function,
    pub(super) scopes: Vec<FxHashMap<String, Binding>>,
    source: &'p Func<'p>,
    /// Names of registers and objects, to keep them unique.
    taken: FxHashSet<String>,
    /// How often a name was made unique, to number the next one.
    copies: FxHashMap<String, u32>,
    blocks: Vec<(Vec<Inst>, Option<Terminator>)>,
    /// Blocks that begin a turn of a loop.
    turns: FxHashMap<BlockId, Turn>,
    /// Blocks in the order of the text.
    placed: Vec<BlockId>,
    /// Blocks that another block stands for.
    taken_over: FxHashMap<BlockId, BlockId>,
    current: Option<BlockId>,
    labels: FxHashMap<String, Label>,
    pub(super) loops: Vec<Loop>,
    /// Where loops start. Two loops never share a block, so that a wait inside a loop stays a loop of its own.
    heads: FxHashSet<BlockId>,
    pending_label: Option<String>,
    /// How many atomic blocks are open.
    pub(super) atomic: u32,
    /// Where the statement that is being lowered stands.
    pub(super) span: Span,
}

impl<'p, 'r> Body<'p, 'r> {
    pub(super) fn new(items: &'p Items, source: &'p Func<'p>, report: &'r mut Report) -> Self {
        Body {
            items,
            report,
            function: header(source),
            scopes: vec![FxHashMap::default()],
            source,
            taken: FxHashSet::default(),
            copies: FxHashMap::default(),
            blocks: vec![(Vec::new(), None)],
            turns: FxHashMap::default(),
            placed: vec![BlockId(0)],
            taken_over: FxHashMap::default(),
            current: Some(BlockId(0)),
            labels: FxHashMap::default(),
            loops: Vec::new(),
            heads: FxHashSet::default(),
            pending_label: None,
            atomic: 0,
            span: source.name.span,
        }
    }

    pub(super) fn lower(mut self) -> Function {
        for (index, (name, _)) in self.source.params.iter().enumerate() {
            self.taken.insert(name.text.to_string());
            if self.bind(name, Binding::Reg(Reg(index as u32))).is_none() {
                self.function.regs[index].name = format!("{}.{index}", name.text);
            }
        }
        let source = self.source;
        self.statements(&source.body);
        self.finish()
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// Gives a name its meaning; an error if it has one in this scope.
    fn bind(&mut self, name: &Name<'_>, binding: Binding) -> Option<()> {
        let scope = self.scopes.last_mut().expect("the scope of the function is never closed");
        if scope.insert(name.text.to_string(), binding).is_some() {
            let message = format!("`{}` is declared twice in this block", name.text);
            self.report.add(Diagnostic::new(name.span, message).help("assign to it without `let`, or rename one"));
            return None;
        }
        Some(())
    }

    fn unique(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let count = self.copies.entry(name.to_owned()).or_insert(0);
        loop {
            *count += 1;
            let candidate = format!("{name}.{count}");
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }

    /// A new register.
    pub(super) fn declare(&mut self, name: &Name<'_>, ty: Type) -> Option<Reg> {
        let reg = self.new_reg(&name.text, ty);
        self.bind(name, Binding::Reg(reg))?;
        Some(reg)
    }

    pub(super) fn new_reg(&mut self, name: &str, ty: Type) -> Reg {
        let name = self.unique(name);
        self.function.regs.push(RegDecl { name, ty });
        Reg(self.function.regs.len() as u32 - 1)
    }

    /// Marks a name whose declaration failed, so that its uses are not reported too.
    pub(super) fn declare_broken(&mut self, name: &Name<'_>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.entry(name.text.to_string()).or_insert(Binding::Broken);
        }
    }

    pub(super) fn push(&mut self, op: Op) {
        if let Some(current) = self.current {
            let span = self.span;
            self.blocks[current.index()].0.push(Inst { op, span });
        }
    }

    pub(super) fn terminate(&mut self, kind: Term) {
        if let Some(current) = self.current.take() {
            self.blocks[current.index()].1 = Some(Terminator { kind, span: self.span });
        }
    }

    pub(super) fn block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        BlockId(self.blocks.len() as u32 - 1)
    }

    /// Goes on in `block`, which comes next in the text.
    pub(super) fn place(&mut self, block: BlockId) {
        self.terminate(Term::Goto(block));
        self.placed.push(block);
        self.current = Some(block);
    }

    /// The current block, if nothing has been said about it yet.
    fn fresh(&self) -> Option<BlockId> {
        self.current.filter(|block| self.blocks[block.index()].0.is_empty() && !self.turns.contains_key(block))
    }

    /// A turn of a loop begins here.
    pub(super) fn begin_turn(&mut self, unbounded: bool) {
        let block = self.start_block();
        self.turns.insert(block, Turn { span: self.span, unbounded });
    }

    /// A block that starts here: the current one if it is empty.
    fn start_block(&mut self) -> BlockId {
        self.fresh().unwrap_or_else(|| {
            let block = self.block();
            self.place(block);
            block
        })
    }

    /// The block where a loop starts: a new one, unless the current one is empty and no other loop starts there.
    fn start_loop(&mut self) -> BlockId {
        let head = match self.fresh() {
            Some(block) if !self.heads.contains(&block) => block,
            _ => {
                let block = self.block();
                self.place(block);
                block
            }
        };
        self.heads.insert(head);
        head
    }

    fn finish(mut self) -> Function {
        if self.labels_missing() {
            return self.function;
        }
        let open = self.current;
        self.span = self.source.end;
        self.terminate(if self.function.ret.is_some() { Term::Unreachable } else { Term::Return(None) });
        self.thread_jumps();
        let mut position = vec![BlockId(0); self.blocks.len()];
        for (index, block) in self.placed.iter().enumerate() {
            position[block.index()] = BlockId(index as u32);
        }
        let resolve = |block: BlockId| position[final_block(&self.taken_over, block).index()];
        let nowhere = Terminator { kind: Term::Unreachable, span: self.source.end };
        self.function.blocks = self
            .placed
            .iter()
            .map(|block| {
                let (insts, term) = std::mem::take(&mut self.blocks[block.index()]);
                let mut term = term.unwrap_or(nowhere.clone());
                term.kind.map_targets(resolve);
                Block { turn: self.turns.get(block).copied(), insts, term }
            })
            .collect();
        if let (Some(open), Some(ty)) = (open, self.function.ret)
            && reachable(&self.function, resolve(open))
        {
            let message = format!("`{}` can end without returning its value", self.function.name);
            let help = format!("add `return` with a value of type `{ty}` before this brace");
            self.report.add(Diagnostic::new(self.source.end, message).help(help));
        }
        drop_unreachable_blocks(&mut self.function);
        self.function
    }

    /// Whether there are labels that are used but not defined; they are reported.
    fn labels_missing(&mut self) -> bool {
        let mut missing: Vec<(&str, Span)> = Vec::new();
        for (name, label) in &self.labels {
            if let (false, Some(span)) = (label.defined, label.used) {
                missing.push((name, span));
            }
        }
        missing.sort_by_key(|(_, span)| *span);
        for (name, span) in &missing {
            let mut diagnostic = Diagnostic::new(*span, format!("there is no label `{name}` in this function"));
            let defined = self.labels.iter().filter(|(_, label)| label.defined).map(|(name, _)| name.as_str());
            if let Some(guess) = did_you_mean(name, defined) {
                diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
            }
            self.report.add(diagnostic);
        }
        !missing.is_empty()
    }

    /// Jumps to blocks that only jump on go there directly. Labelled blocks stay as they were written.
    fn thread_jumps(&mut self) {
        let labelled: FxHashSet<BlockId> = self.labels.values().map(|label| label.block).collect();
        for &block in self.placed.iter().skip(1) {
            if let (insts, Some(Terminator { kind: Term::Goto(next), .. })) = &self.blocks[block.index()]
                && insts.is_empty()
                && !self.turns.contains_key(&block)
                && !labelled.contains(&block)
                && !self.heads.contains(&block)
                && final_block(&self.taken_over, *next) != block
            {
                self.taken_over.insert(block, *next);
            }
        }
    }

    pub(super) fn scoped(&mut self, body: &[Stmt<'_>]) {
        self.scopes.push(FxHashMap::default());
        self.statements(body);
        self.scopes.pop();
    }

    fn statements(&mut self, body: &[Stmt<'_>]) {
        for statement in body {
            if self.report.full() {
                return;
            }
            self.span = statement.span;
            // What is wrong has been reported; the next statement may still make sense.
            let _ = self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt<'_>) -> Option<()> {
        let label = self.pending_label.take();
        match &statement.kind {
            StmtKind::Block(body) => self.scoped(body),
            StmtKind::Atomic(body) => {
                self.push(Op::AtomicBegin);
                self.atomic += 1;
                self.scoped(body);
                self.atomic -= 1;
                self.push(Op::AtomicEnd);
            }
            StmtKind::If(arms, otherwise) => self.conditional(arms, otherwise)?,
            StmtKind::Branch(cond, then, otherwise) => {
                let cond = self.expr_as(cond, Type::I1)?;
                let then = self.label(then);
                let next = self.block();
                let target = otherwise.as_ref().map_or(next, |name| self.label(name));
                self.terminate(Term::If(cond, then, target));
                if otherwise.is_none() {
                    self.placed.push(next);
                    self.current = Some(next);
                }
            }
            StmtKind::While(cond, body) => {
                let head = self.start_loop();
                let (inside, leave) = (self.block(), self.block());
                let cond = self.expr_as(cond, Type::I1).unwrap_or(Expr::bool(true));
                self.terminate(Term::If(cond, inside, leave));
                self.span = statement.span;
                self.turn(label, inside, head, leave, body);
                self.span = statement.span;
                self.terminate(Term::Goto(head));
                self.place(leave);
            }
            StmtKind::Loop(body) => {
                let head = self.start_loop();
                self.begin_turn(false);
                let leave = self.block();
                self.in_loop(label, head, leave, body);
                self.span = statement.span;
                self.terminate(Term::Goto(head));
                self.place(leave);
            }
            StmtKind::DoWhile(body, cond) => {
                let head = self.start_loop();
                self.begin_turn(false);
                let (test, leave) = (self.block(), self.block());
                self.in_loop(label, test, leave, body);
                self.place(test);
                self.span = cond.span;
                let cond = self.expr_as(cond, Type::I1).unwrap_or(Expr::bool(false));
                self.terminate(Term::If(cond, head, leave));
                self.place(leave);
            }
            StmtKind::Turn { unbounded } => self.begin_turn(*unbounded),
            StmtKind::For { name, ty, from, to, body } => self.count(label, name, *ty, from, to, body)?,
            StmtKind::Switch { value, arms, default } => self.switch(value, arms, default.as_ref())?,
            StmtKind::Break(name) => self.jump(name.as_ref(), statement.span, true)?,
            StmtKind::Continue(name) => self.jump(name.as_ref(), statement.span, false)?,
            StmtKind::Label(name) => self.define(name)?,
            StmtKind::Goto(name) => {
                let target = self.label(name);
                self.terminate(Term::Goto(target));
            }
            StmtKind::Spin(name) => {
                let target = self.label(name);
                self.terminate(Term::Spin(target));
            }
            StmtKind::Return(value) => self.leave(value.as_ref())?,
            StmtKind::ThreadExit(value) => {
                let value = match value {
                    Some(value) => Some(self.expr(value, None)?.0),
                    None => None,
                };
                self.end_atomic(0);
                self.terminate(Term::ExitThread(value));
            }
            StmtKind::Exit => self.terminate(Term::Exit),
            StmtKind::Unreachable => self.terminate(Term::Unreachable),
            StmtKind::Var { name, layout, init } => self.object(name, layout, init.as_ref())?,
            simple => self.simple(simple)?,
        }
        Some(())
    }

    fn object(&mut self, name: &Name<'_>, layout: &super::ast::LayoutAst<'_>, init: Option<&Ast<'_>>) -> Option<()> {
        let Some(layout) = self.items.layout(layout, self.report) else {
            self.declare_broken(name);
            return None;
        };
        let unique = self.unique(&name.text);
        let id = LocalId(self.function.locals.len() as u32);
        self.function.locals.push(Local { name: unique, layout, span: name.span });
        let init = init.map(|init| self.initialise(id, layout, init));
        self.bind(name, Binding::Local(id))?;
        init.unwrap_or(Some(()))
    }

    /// The block a label names.
    pub(super) fn label(&mut self, name: &Name<'_>) -> BlockId {
        if let Some(label) = self.labels.get_mut(&*name.text) {
            label.used.get_or_insert(name.span);
            return label.block;
        }
        let block = self.block();
        self.labels.insert(name.text.to_string(), Label { block, defined: false, used: Some(name.span) });
        block
    }

    fn define(&mut self, name: &Name<'_>) -> Option<()> {
        self.pending_label = Some(name.text.to_string());
        let block = match self.labels.get_mut(&*name.text) {
            Some(label) if label.defined => {
                let message = format!("the label `{}` is defined twice in this function", name.text);
                self.report.add(Diagnostic::new(name.span, message).help("rename one of them"));
                return None;
            }
            Some(label) => {
                label.defined = true;
                label.block
            }
            None => {
                let block = self.start_block();
                self.labels.insert(name.text.to_string(), Label { block, defined: true, used: None });
                return Some(());
            }
        };
        match self.fresh() {
            Some(empty) => {
                self.taken_over.insert(empty, block);
                *self.placed.last_mut().expect("the current block is placed") = block;
                self.current = Some(block);
            }
            None => self.place(block),
        }
        Some(())
    }
}

/// The block that stands for `block` in the end.
fn final_block(taken_over: &FxHashMap<BlockId, BlockId>, mut block: BlockId) -> BlockId {
    while let Some(&owner) = taken_over.get(&block) {
        block = owner;
    }
    block
}

fn reachable(function: &Function, wanted: BlockId) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut todo = vec![BlockId(0)];
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut seen[block.index()], true) {
            function.blocks[block.index()].term.kind.for_each_target(|target| todo.push(target));
        }
    }
    seen[wanted.index()]
}
