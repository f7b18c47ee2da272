//! From the tree to the program: parameters, objects, signatures.
//!
//! Parameters are evaluated first and in order; then objects and signatures are entered, so that everything may be used
//! before it is declared; then bodies are lowered one by one.

use super::Report;
use super::ast::{Ast, File, Global, Init, Kind, LayoutAst, Name, PlaceKind};
use super::lower_body::Body;
use super::lower_expr::{Konst, constant, literal};
use super::names::did_you_mean;
use crate::program::{
    FuncId, Function, GlobalId, InitField, InitValue, Layout, MAX_OBJECT_SIZE, Object, Program, RegDecl,
};
use crate::source::{Diagnostic, SourceMap, Span};
use crate::types::Type;
use rustc_hash::FxHashMap;

/// What names mean outside of functions.
#[derive(Debug, Default)]
pub(super) struct Items {
    pub(super) params: FxHashMap<String, i128>,
    pub(super) globals: FxHashMap<String, GlobalId>,
    pub(super) functions: FxHashMap<String, FuncId>,
    pub(super) layouts: Vec<Layout>,
    pub(super) signatures: Vec<(Vec<Type>, Option<Type>)>,
}

impl Items {
    /// Every name that is known everywhere.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.params.keys().chain(self.globals.keys()).chain(self.functions.keys()).map(String::as_str)
    }

    /// The value of a constant expression, or a report of why it has none.
    pub(super) fn const_value(&self, ast: &Ast<'_>, what: &str, report: &mut Report) -> Option<i128> {
        match constant(ast, &|name| self.params.get(name).copied()) {
            Konst::Value(value) => Some(value),
            Konst::Bad(span, message) => {
                report.add(Diagnostic::new(span, message));
                None
            }
            Konst::No => {
                let mut diagnostic = Diagnostic::new(ast.span, format!("{what} must be a constant"));
                if let Kind::Name(name) = &ast.kind {
                    diagnostic = match did_you_mean(&name.text, self.params.keys().map(String::as_str)) {
                        Some(guess) => diagnostic.help(format!("did you mean the parameter `{guess}`?")),
                        None => diagnostic.help(format!("declare `param {} = ...;`", name.text)),
                    };
                }
                report.add(diagnostic);
                None
            }
        }
    }

    /// A constant of 32 bits that counts something.
    fn count(&self, ast: &Ast<'_>, what: &str, limit: u32, report: &mut Report) -> Option<u32> {
        let value = self.const_value(ast, what, report)?;
        match u32::try_from(value) {
            Ok(value) if value <= limit => Some(value),
            _ => {
                let message = format!("{what} is {value}, which is not between 0 and {limit}");
                report.add(Diagnostic::new(ast.span, message));
                None
            }
        }
    }

    pub(super) fn layout(&self, ast: &LayoutAst<'_>, report: &mut Report) -> Option<Layout> {
        Some(match ast {
            LayoutAst::Scalar(ty) => Layout::Scalar(*ty),
            LayoutAst::Array(ty, length) => {
                let limit = MAX_OBJECT_SIZE / ty.size();
                Layout::Array(*ty, self.count(length, "the length of an array", limit, report)?)
            }
            LayoutAst::Bytes(size, align) => {
                let size = self.count(size, "the size of an object", MAX_OBJECT_SIZE, report)?;
                let align = match align {
                    Some(align) => self.count(align, "an alignment", 1 << 16, report)?,
                    None => 8,
                };
                Layout::Bytes { size, align }
            }
            LayoutAst::Looper(mailbox, None) => Layout::Looper(*mailbox, 1),
            LayoutAst::Looper(mailbox, Some(count)) => {
                let limit = MAX_OBJECT_SIZE / 4;
                Layout::Looper(*mailbox, self.count(count, "the number of loopers", limit, report)?)
            }
            LayoutAst::Mutex => Layout::Mutex,
            LayoutAst::RwLock => Layout::RwLock,
            LayoutAst::Cond => Layout::Cond,
            LayoutAst::Barrier(count) => {
                Layout::Barrier(self.count(count, "the count of a barrier", i32::MAX as u32, report)?)
            }
            LayoutAst::Semaphore(count) => {
                Layout::Semaphore(self.count(count, "the value of a semaphore", i32::MAX as u32, report)?)
            }
        })
    }
}

/// Builds the program; what could not be understood is reported and left out.
pub(super) fn lower(file: &File<'_>, params: &[(String, i64)], sources: SourceMap, report: &mut Report) -> Program {
    let mut program = Program { sources, ..Program::default() };
    let mut items = Items::default();
    enter_params(file, params, &mut items, report);
    enter_globals(file, &mut items, &mut program, report);
    enter_functions(file, &mut items, report);
    for (global, object) in file.globals.iter().zip(&mut program.globals) {
        object.init = initial(global, object.layout, &items, report);
    }
    for function in &file.functions {
        let lowered = Body::new(&items, function, report).lower();
        program.functions.push(lowered);
    }
    program.entry = entry(file, &items, &program.functions, report);
    program.entry_exits = file.entry_exits;
    program
}

fn enter_params(file: &File<'_>, given: &[(String, i64)], items: &mut Items, report: &mut Report) {
    for (name, value) in &file.params {
        let default = items.const_value(value, "the value of a parameter", report);
        let chosen = given.iter().rev().find(|(given, _)| *given == *name.text).map(|&(_, value)| i128::from(value));
        if items.params.contains_key(&*name.text) {
            report.add(twice(name, "parameter"));
        } else if let Some(value) = chosen.or(default) {
            items.params.insert(name.text.to_string(), value);
        }
    }
    for (name, _) in given {
        if file.params.iter().any(|(param, _)| *param.text == **name) {
            continue;
        }
        let known: Vec<&str> = file.params.iter().map(|(param, _)| &*param.text).collect();
        let mut diagnostic = Diagnostic::new(Span::default(), format!("the program has no parameter `{name}`"));
        if let Some(guess) = did_you_mean(name, known.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
        } else if known.is_empty() {
            diagnostic = diagnostic.help("it declares no parameters");
        } else {
            diagnostic = diagnostic.help(format!("its parameters are {}", known.join(", ")));
        }
        report.add(diagnostic);
    }
}

fn twice(name: &Name<'_>, what: &str) -> Diagnostic {
    Diagnostic::new(name.span, format!("the {what} `{}` is declared twice", name.text)).help("rename one of them")
}

fn enter_globals(file: &File<'_>, items: &mut Items, program: &mut Program, report: &mut Report) {
    for global in &file.globals {
        let layout = items.layout(&global.layout, report).unwrap_or(Layout::Scalar(Type::I32));
        let id = GlobalId(program.globals.len() as u32);
        if items.params.contains_key(&*global.name.text)
            || items.globals.insert(global.name.text.to_string(), id).is_some()
        {
            report.add(twice(&global.name, "name"));
        }
        items.layouts.push(layout);
        program.globals.push(Object {
            name: global.name.text.to_string(),
            layout,
            init: Vec::new(),
            thread_local: global.thread_local,
            constant: global.constant,
            span: global.name.span,
        });
    }
}

fn enter_functions(file: &File<'_>, items: &mut Items, report: &mut Report) {
    for (index, function) in file.functions.iter().enumerate() {
        let name = function.name.text.to_string();
        if items.params.contains_key(&name)
            || items.globals.contains_key(&name)
            || items.functions.insert(name, FuncId(index as u32)).is_some()
        {
            report.add(twice(&function.name, "name"));
        }
        items.signatures.push((function.params.iter().map(|&(_, ty)| ty).collect(), function.ret));
    }
}

fn entry(file: &File<'_>, items: &Items, functions: &[Function], report: &mut Report) -> Option<FuncId> {
    let (wanted, span) = file.entry.as_ref().map_or(("main", Span::default()), |name| (&name.text, name.span));
    let found = items.functions.get(wanted).copied();
    match found {
        Some(id) => {
            let function = &functions[id.index()];
            if function.params > 0 {
                let message = format!("`{wanted}`, where the program starts, cannot have parameters");
                let help = "use `param` declarations for values from outside";
                report.add(Diagnostic::new(function.span, message).help(help));
            }
        }
        None => {
            let mut diagnostic = Diagnostic::new(span, format!("there is no function `{wanted}` to start with"));
            if let Some(guess) = did_you_mean(wanted, items.functions.keys().map(String::as_str)) {
                diagnostic = diagnostic.help(format!("did you mean `entry {guess};`?"));
            } else {
                diagnostic = diagnostic.help("declare `fn main() { ... }`");
            }
            report.add(diagnostic);
        }
    }
    found
}

fn initial(global: &Global<'_>, layout: Layout, items: &Items, report: &mut Report) -> Vec<InitField> {
    let element = match layout {
        Layout::Scalar(ty) | Layout::Array(ty, _) => Some(ty),
        _ => None,
    };
    let general = "write `{offset: type value, ...}` for other kinds of objects";
    let mut fields = Vec::new();
    match (&global.init, layout) {
        (Init::None, _) => {}
        (Init::Value(value), Layout::Scalar(ty)) => {
            fields.extend(init_value(value, ty, items, report).map(|value| InitField { offset: 0, ty, value }));
        }
        (Init::Value(value), Layout::Array(..)) => {
            let help = "write the elements as `{1, 2}`";
            report.add(Diagnostic::new(value.span, "an array needs a list of values").help(help));
        }
        (Init::List(values), Layout::Array(ty, length)) => {
            if values.len() > length as usize {
                let message = format!("{} values for an array of {length}", values.len());
                report.add(Diagnostic::new(global.name.span, message));
                return fields;
            }
            for (index, value) in values.iter().enumerate() {
                let offset = index as u32 * ty.size();
                fields.extend(init_value(value, ty, items, report).map(|value| InitField { offset, ty, value }));
            }
        }
        (Init::List(_) | Init::Value(_), _) => {
            let message = match element {
                Some(_) => "a single value is not a list",
                None => "this kind of object has no such initial value",
            };
            report.add(Diagnostic::new(global.name.span, message).help(general));
        }
        (Init::Fields(list), _) => {
            for (offset, ty, value) in list {
                let offset = items.count(offset, "an offset", MAX_OBJECT_SIZE, report);
                let value = init_value(value, *ty, items, report);
                if let (Some(offset), Some(value)) = (offset, value) {
                    fields.push(InitField { offset, ty: *ty, value });
                }
            }
        }
    }
    fields
}

/// A number, `&x`, `&x + 4`, `&a[2]` or `&f`.
fn init_value(ast: &Ast<'_>, ty: Type, items: &Items, report: &mut Report) -> Option<InitValue> {
    let plain = |report: &mut Report| {
        let value = match ast.kind {
            Kind::Null => 0,
            Kind::Bool(value) => i128::from(value),
            Kind::Int(value, Some(given)) if given == ty => value,
            _ => items.const_value(ast, "an initial value", report)?,
        };
        literal(value, ty, ast.span, report).map(InitValue::Int)
    };
    let (base, offset) = match &ast.kind {
        Kind::Binary(infix, base, offset) if matches!(base.kind, Kind::AddressOf(_)) && infix.text == "+" => {
            (base, items.const_value(offset, "the offset", report)?)
        }
        Kind::Binary(infix, base, offset) if matches!(base.kind, Kind::AddressOf(_)) && infix.text == "-" => {
            (base, -items.const_value(offset, "the offset", report)?)
        }
        Kind::AddressOf(_) => (&Box::new(ast.clone()), 0),
        _ => return plain(report),
    };
    let Kind::AddressOf(place) = &base.kind else { return plain(report) };
    if !matches!(ty, Type::Ptr | Type::I32) {
        report.add(Diagnostic::new(ast.span, format!("expected a value of type `{ty}`, found an address")));
        return None;
    }
    let (name, index) = match &place.kind {
        PlaceKind::Name { name, .. } => (name, None),
        PlaceKind::Index { name, index, .. } => (name, Some(index)),
        PlaceKind::Deref(_) => {
            report.add(Diagnostic::new(place.span, "an initial value must be the address of an object or a function"));
            return None;
        }
    };
    if let Some(&func) = items.functions.get(&*name.text)
        && index.is_none()
        && offset == 0
    {
        return Some(InitValue::Func(func));
    }
    let Some(&global) = items.globals.get(&*name.text) else {
        let mut diagnostic = Diagnostic::new(name.span, format!("there is no object `{}`", name.text));
        if let Some(guess) = did_you_mean(&name.text, items.names()) {
            diagnostic = diagnostic.help(format!("did you mean `{guess}`?"));
        }
        report.add(diagnostic);
        return None;
    };
    let mut total = offset;
    if let Some(index) = index {
        let Layout::Array(element, _) = items.layouts[global.index()] else {
            report.add(Diagnostic::new(place.span, format!("`{}` is no array", name.text)));
            return None;
        };
        total += items.const_value(index, "the index", report)?.saturating_mul(i128::from(element.size()));
    }
    match i64::try_from(total) {
        Ok(offset) => Some(InitValue::Global(global, offset)),
        Err(_) => {
            report.add(Diagnostic::new(ast.span, "this offset does not fit in 64 bits"));
            None
        }
    }
}

/// A function without a body yet.
pub(super) fn header(function: &super::ast::Func<'_>) -> Function {
    Function {
        name: function.name.text.to_string(),
        params: function.params.len() as u32,
        ret: function.ret,
        regs: function.params.iter().map(|(name, ty)| RegDecl { name: name.text.to_string(), ty: *ty }).collect(),
        locals: Vec::new(),
        blocks: Vec::new(),
        span: function.name.span,
    }
}
