//! Threads of flavour C: `P0 (atomic_int *x, int *y) { ... }`.
//!
//! Parsing and lowering are one pass: registers are flat, so nothing has to be known before it is met. [`expr`] has the expressions, [`call`] the operations of `<stdatomic.h>` and locks.

mod call;
mod expr;

use crate::Result_;
use crate::condition;
use crate::cursor::Cursor;
use crate::labels::Labels;
use crate::lex::Kind;
use crate::types::{CType, pointers, specifier};
use crate::world::World;
use raddle_program::{BlockId, Diagnostic, Function, FunctionBuilder, Op, Reg, Span, Term, Type};
use std::collections::BTreeMap;

/// A thread as it stands in the file.
pub(crate) struct Thread<'t> {
    parameters: Vec<(String, CType, Span)>,
    body: Cursor<'t>,
    span: Span,
}

/// Finds the threads; their bodies are read later, when it is known what is asked about them.
pub(crate) fn threads<'t>(cursor: &mut Cursor<'t>) -> Result_<Vec<Thread<'t>>> {
    let mut threads = Vec::new();
    while !condition::begins(cursor) {
        while matches!(cursor.peek(), Kind::Word(word) if matches!(word.as_str(), "void" | "static" | "inline")) {
            cursor.advance();
        }
        let expected = format!("P{}", threads.len());
        let (name, span) = cursor.word(&format!("the thread `{expected}`, or `exists`"))?;
        if name != expected {
            let help = "threads are called P0, P1, P2, ... and stand in this order";
            return Err(Diagnostic::new(span, format!("expected the thread `{expected}`, found `{name}`"))
                .help(help)
                .into());
        }
        let parameters = parameters(cursor)?;
        let from = cursor.position();
        cursor.expect("{")?;
        let mut depth = 1;
        while depth > 0 {
            if cursor.at_end() {
                return Err(cursor.error(format!("the code of {name} does not end")));
            }
            depth += i32::from(cursor.is("{")) - i32::from(cursor.is("}"));
            cursor.advance();
        }
        threads.push(Thread { parameters, body: cursor.part(from, cursor.position()), span });
    }
    Ok(threads)
}

fn parameters(cursor: &mut Cursor<'_>) -> Result_<Vec<(String, CType, Span)>> {
    let mut found = Vec::new();
    cursor.expect("(")?;
    while !cursor.eat(")") {
        if cursor.eat(",") || cursor.eat(";") {
            continue;
        }
        let place = cursor.span();
        let ty = specifier(cursor)?.ok_or_else(|| cursor.wrong("the type of a parameter"))?;
        let ty = pointers(cursor, ty);
        if ty == CType::Void && cursor.is(")") {
            continue;
        }
        let (name, span) = cursor.word("the name of a parameter")?;
        let ty = match ty {
            // `int a[]` is `int *a`.
            ty if cursor.eat("[") => {
                if !cursor.is("]") {
                    cursor.number("a length")?;
                }
                cursor.expect("]")?;
                ty
            }
            CType::Pointer { to, .. } => *to,
            _ => {
                let help = format!("parameters are the locations that a thread uses: int *{name}");
                return Err(Diagnostic::new(place, format!("the parameter `{name}` is no pointer")).help(help).into());
            }
        };
        found.push((name, ty, span));
    }
    Ok(found)
}

pub(crate) fn lower(number: usize, thread: &Thread<'_>, world: &mut World) -> Result_<Function> {
    let mut builder = FunctionBuilder::new(format!("P{number}"), &[], None, thread.span);
    let end = builder.block();
    let mut parameters = BTreeMap::new();
    for (name, ty, span) in &thread.parameters {
        let at = world.location(name, *span);
        let location = &mut world.locations[at];
        let cell = |ty: &CType| ty.number().map(|number| number.cell());
        match &location.ty {
            Some(known) if cell(known).is_some() && cell(ty).is_some() && cell(known) != cell(ty) => {
                return Err(Diagnostic::new(*span, format!("`{name}` is declared with another type elsewhere")).into());
            }
            Some(_) => {}
            None if *ty == CType::Void => {}
            None => location.ty = Some(ty.clone()),
        }
        parameters.insert(name.clone(), (at, ty.clone()));
    }
    let mut body = Body {
        world,
        cursor: thread.body.clone(),
        builder,
        parameters,
        variables: BTreeMap::new(),
        labels: Labels::default(),
        loops: Vec::new(),
        end,
    };
    body.begin(number)?;
    body.block()?;
    body.finish(number)
}

/// The code of a thread while it is read.
struct Body<'w, 't> {
    world: &'w mut World,
    cursor: Cursor<'t>,
    builder: FunctionBuilder,
    /// The locations the thread may use, by the names of the pointers to them.
    parameters: BTreeMap<String, (usize, CType)>,
    /// Its registers.
    variables: BTreeMap<String, (Reg, CType)>,
    labels: Labels,
    /// Where `continue` and `break` lead, in the loops around this place.
    loops: Vec<(BlockId, BlockId)>,
    /// Where the thread ends.
    end: BlockId,
}

impl Body<'_, '_> {
    fn begin(&mut self, number: usize) -> Result_<()> {
        let variables = &mut self.variables;
        self.world.begin_registers(number, &mut self.builder, |builder, name, ty| {
            let reg = builder.reg(name, Type::I64);
            variables.insert(name.to_owned(), (reg, ty.unwrap_or(CType::INT)));
            reg
        })
    }

    fn finish(mut self, number: usize) -> Result_<Function> {
        self.labels.check()?;
        self.builder.terminate(Term::Goto(self.end));
        self.builder.switch_to(self.end);
        let variables = &self.variables;
        self.world.end_registers(number, &mut self.builder, |name| variables.get(name).map(|(reg, _)| *reg));
        Ok(self.builder.finish())
    }

    /// The register of a variable, which is new if it was not met before.
    fn variable(&mut self, name: &str, ty: CType) -> Reg {
        if let Some((reg, known)) = self.variables.get_mut(name) {
            if ty != CType::INT {
                *known = ty;
            }
            return *reg;
        }
        let reg = self.builder.reg(name, Type::I64);
        self.variables.insert(name.to_owned(), (reg, ty));
        reg
    }

    fn block(&mut self) -> Result_<()> {
        self.cursor.expect("{")?;
        self.cursor.enter()?;
        while !self.cursor.eat("}") {
            self.statement()?;
        }
        self.cursor.leave();
        Ok(())
    }

    fn statement(&mut self) -> Result_<()> {
        self.cursor.enter()?;
        self.builder.at(self.cursor.span());
        self.one_statement()?;
        self.cursor.leave();
        Ok(())
    }

    fn one_statement(&mut self) -> Result_<()> {
        if self.cursor.is("{") {
            return self.block();
        }
        if self.cursor.eat(";") {
            return Ok(());
        }
        if let (Kind::Word(name), Kind::Sign(":")) = (self.cursor.peek(), self.cursor.ahead(1)) {
            let span = self.cursor.span();
            self.cursor.advance();
            self.cursor.advance();
            let here = self.labels.define(name, span, &mut self.builder)?;
            self.builder.terminate(Term::Goto(here));
            self.builder.switch_to(here);
            return if self.cursor.is("}") { Ok(()) } else { self.statement() };
        }
        let word = match self.cursor.peek() {
            Kind::Word(word) => word.as_str(),
            _ => "",
        };
        match word {
            "if" => self.branch(),
            "while" => self.while_loop(),
            "do" => self.do_loop(),
            "for" => self.for_loop(),
            "goto" => {
                self.cursor.advance();
                let (name, span) = self.cursor.word("a label")?;
                let target = self.labels.target(&name, span, &mut self.builder);
                self.jump(target)
            }
            "break" | "continue" => {
                let Some(&(next, out)) = self.loops.last() else {
                    return Err(self.cursor.error(format!("`{word}` stands outside of loops")));
                };
                self.cursor.advance();
                self.jump(if word == "break" { out } else { next })
            }
            "return" => {
                self.cursor.advance();
                if !self.cursor.is(";") {
                    self.expression()?;
                }
                self.jump(self.end)
            }
            "switch" | "case" | "default" => Err(self.cursor.error("`switch` is not supported in litmus tests")),
            _ => {
                self.simple()?;
                self.cursor.expect(";")
            }
        }
    }

    /// Ends a statement that goes elsewhere; what follows it is not reached.
    fn jump(&mut self, target: BlockId) -> Result_<()> {
        self.cursor.expect(";")?;
        self.builder.terminate(Term::Goto(target));
        let next = self.builder.block();
        self.builder.switch_to(next);
        Ok(())
    }

    /// A declaration or an expression.
    fn simple(&mut self) -> Result_<()> {
        let Some(base) = specifier(&mut self.cursor)? else {
            self.expression()?;
            return Ok(());
        };
        loop {
            let ty = pointers(&mut self.cursor, base.clone());
            let place = self.cursor.span();
            let (name, _) = self.cursor.word("the name of a variable")?;
            if self.parameters.contains_key(&name) {
                return Err(Diagnostic::new(place, format!("`{name}` is a parameter as well")).into());
            }
            if ty.number().is_none() || self.cursor.is("[") {
                return Err(Diagnostic::new(
                    place,
                    format!("`{name}` is no number and no pointer, and locals are not supported otherwise"),
                )
                .into());
            }
            self.variable(&name, ty);
            if self.cursor.eat("=") {
                self.builder.at(place);
                let value = self.assignment()?;
                let value = self.value(value)?;
                self.assign(&name, value);
            }
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    /// A condition in brackets.
    fn condition(&mut self) -> Result_<raddle_program::Expr> {
        self.cursor.expect("(")?;
        let value = self.expression()?;
        self.cursor.expect(")")?;
        Ok(expr::truth(value.expr))
    }

    fn branch(&mut self) -> Result_<()> {
        self.cursor.advance();
        let cond = self.condition()?;
        let [then, otherwise, after] = [(); 3].map(|()| self.builder.block());
        self.builder.terminate(Term::If(cond, then, otherwise));
        self.builder.switch_to(then);
        self.statement()?;
        self.builder.terminate(Term::Goto(after));
        self.builder.switch_to(otherwise);
        if self.cursor.eat_word("else") {
            self.statement()?;
        }
        self.builder.terminate(Term::Goto(after));
        self.builder.switch_to(after);
        Ok(())
    }

    fn while_loop(&mut self) -> Result_<()> {
        self.cursor.advance();
        let [head, inside, after] = [(); 3].map(|()| self.builder.block());
        self.builder.terminate(Term::Goto(head));
        self.builder.switch_to(head);
        let cond = self.condition()?;
        self.builder.terminate(Term::If(cond, inside, after));
        self.turn(inside, head, after)?;
        self.builder.terminate(Term::Goto(head));
        self.builder.switch_to(after);
        Ok(())
    }

    fn do_loop(&mut self) -> Result_<()> {
        self.cursor.advance();
        let [inside, test, after] = [(); 3].map(|()| self.builder.block());
        self.builder.terminate(Term::Goto(inside));
        self.turn(inside, test, after)?;
        self.builder.terminate(Term::Goto(test));
        self.builder.switch_to(test);
        if !self.cursor.eat_word("while") {
            return Err(self.cursor.wrong("`while`"));
        }
        let cond = self.condition()?;
        self.cursor.expect(";")?;
        self.builder.terminate(Term::If(cond, inside, after));
        self.builder.switch_to(after);
        Ok(())
    }

    fn for_loop(&mut self) -> Result_<()> {
        self.cursor.advance();
        self.cursor.expect("(")?;
        if !self.cursor.is(";") {
            self.simple()?;
        }
        self.cursor.expect(";")?;
        let [head, step, inside, after] = [(); 4].map(|()| self.builder.block());
        self.builder.terminate(Term::Goto(head));
        self.builder.switch_to(head);
        let cond =
            if self.cursor.is(";") { raddle_program::Expr::bool(true) } else { expr::truth(self.expression()?.expr) };
        self.cursor.expect(";")?;
        self.builder.terminate(Term::If(cond, inside, after));
        self.builder.switch_to(step);
        if !self.cursor.is(")") {
            self.expression()?;
        }
        self.cursor.expect(")")?;
        self.builder.terminate(Term::Goto(head));
        self.turn(inside, step, after)?;
        self.builder.terminate(Term::Goto(step));
        self.builder.switch_to(after);
        Ok(())
    }

    /// The body of a loop.
    fn turn(&mut self, inside: BlockId, next: BlockId, out: BlockId) -> Result_<()> {
        self.builder.switch_to(inside);
        self.builder.begin_turn(false);
        self.loops.push((next, out));
        self.statement()?;
        self.loops.pop();
        Ok(())
    }

    fn push(&mut self, op: Op) {
        self.builder.push(op);
    }
}
