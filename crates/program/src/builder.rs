//! Building a function block by block, for front ends and generators.

use crate::expr::Expr;
use crate::inst::{Block, Inst, Op, Term, Terminator, Turn};
use crate::program::{BlockId, Function, Layout, Local, LocalId, Reg, RegDecl};
use crate::source::Span;
use crate::types::Type;
use rustc_hash::FxHashSet;

/// A block under construction.
#[derive(Debug, Default)]
struct Pending {
    turn: Option<Turn>,
    insts: Vec<Inst>,
    term: Option<Terminator>,
}

/// A function under construction. Instructions go to the current block until it is terminated.
#[derive(Debug)]
pub struct FunctionBuilder {
    function: Function,
    pending: Vec<Pending>,
    current: BlockId,
    span: Span,
    /// Names of registers and objects; they share one namespace, as in the text form.
    taken: FxHashSet<String>,
}

impl FunctionBuilder {
    /// A function with these parameters, positioned at its first block.
    pub fn new(name: impl Into<String>, params: &[(&str, Type)], ret: Option<Type>, span: Span) -> Self {
        let regs: Vec<RegDecl> = params.iter().map(|&(name, ty)| RegDecl { name: name.to_owned(), ty }).collect();
        let taken = regs.iter().map(|reg: &RegDecl| reg.name.clone()).collect();
        FunctionBuilder {
            function: Function {
                name: name.into(),
                params: params.len() as u32,
                ret,
                regs,
                locals: Vec::new(),
                blocks: Vec::new(),
                span,
            },
            pending: vec![Pending::default()],
            current: BlockId(0),
            span,
            taken,
        }
    }

    /// Instructions added from now on come from here.
    pub fn at(&mut self, span: Span) {
        self.span = span;
    }

    /// Where instructions come from at the moment.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The register of parameter `index`.
    pub fn param(&self, index: usize) -> Reg {
        assert!(index < self.function.params as usize, "no parameter {index}");
        Reg(index as u32)
    }

    /// A new register. The name is made unique by a number if it is taken.
    pub fn reg(&mut self, name: &str, ty: Type) -> Reg {
        let name = self.unique(name);
        self.function.regs.push(RegDecl { name, ty });
        Reg(self.function.regs.len() as u32 - 1)
    }

    /// A new local object. The name is made unique by a number if it is taken.
    pub fn local(&mut self, name: impl Into<String>, layout: Layout) -> LocalId {
        let name = self.unique(&name.into());
        self.function.locals.push(Local { name, layout, span: self.span });
        LocalId(self.function.locals.len() as u32 - 1)
    }

    fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        let mut number = self.taken.len();
        while !self.taken.insert(unique.clone()) {
            unique = format!("{name}.{number}");
            number += 1;
        }
        unique
    }

    /// The type of an expression.
    pub fn ty(&self, expr: &Expr) -> Type {
        self.function.expr_type(expr)
    }

    /// A new, empty block, not yet the current one.
    pub fn block(&mut self) -> BlockId {
        self.pending.push(Pending::default());
        BlockId(self.pending.len() as u32 - 1)
    }

    /// Goes on in this block.
    pub fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    /// The current block.
    pub fn current(&self) -> BlockId {
        self.current
    }

    /// The current block begins a turn of a loop, whose statement stands where instructions come from at the moment.
    pub fn begin_turn(&mut self, unbounded: bool) {
        self.pending[self.current.index()].turn = Some(Turn { span: self.span, unbounded });
    }

    /// Whether the current block already has its terminator; what is added then is unreachable and dropped.
    pub fn terminated(&self) -> bool {
        self.pending[self.current.index()].term.is_some()
    }

    /// Adds an instruction.
    pub fn push(&mut self, op: Op) {
        let span = self.span;
        let Pending { insts, term, .. } = &mut self.pending[self.current.index()];
        if term.is_none() {
            insts.push(Inst { op, span });
        }
    }

    /// Ends the current block; ignored if it has ended already.
    pub fn terminate(&mut self, kind: Term) {
        let span = self.span;
        let term = &mut self.pending[self.current.index()].term;
        if term.is_none() {
            *term = Some(Terminator { kind, span });
        }
    }

    /// The finished function. Blocks left open return (a value of zero, if one is due), and blocks that cannot be reached are dropped.
    pub fn finish(mut self) -> Function {
        let implicit = Term::Return(self.function.ret.map(|ty| Expr::Const(ty, 0)));
        let span = self.span;
        self.function.blocks = self
            .pending
            .into_iter()
            .map(|Pending { turn, insts, term }| {
                let term = term.unwrap_or(Terminator { kind: implicit.clone(), span });
                Block { turn, insts, term }
            })
            .collect();
        crate::program::drop_unreachable_blocks(&mut self.function);
        self.function
    }
}
