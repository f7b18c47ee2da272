//! Does the program obey C's rules of names and types, and what do its expressions mean?
//!
//! The checker walks the syntax tree and builds the typed tree ([`tree`](crate::tree)). Declarations at file scope
//! are checked first, all of them; bodies of functions only when the lowering asks for them, that is when they
//! can be reached from `main`. So a header full of functions nobody calls costs nothing and need not be supported.
//!
//! The user's files are a unit each, and so is the library model, a few pages of C that come with this crate.
//! Each unit has a file scope of its own; they share all tables, and the user's units the names with external linkage: what a linker
//! would complain of is found where the second declaration is met.
//!
//! Deviations from a compiler: pointers convert to each other without a complaint, a name declared at file scope
//! after its use is found, and constant expressions may read `const` objects whose initial value is known.

mod asm;
mod builtin;
mod constant;
mod convert;
mod decl;
mod expr;
mod init;
mod primary;
mod stmt;
mod types;
mod wide;

use crate::ctype::{DataModel, FuncTy, IntKind, QTy, RecordId, Ty, Types};
use crate::parse::Fault;
use crate::syntax::{FunctionDef, Item, Unit};
use crate::token::{Name, Pos};
use crate::tree::{Body, Constant, FnId, LabelId, StrId, Var, VarId};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;

pub(crate) use builtin::ordering;
pub(crate) use constant::truncate;

type Checked<T> = Result<T, Fault>;

/// What an ordinary name stands for.
#[derive(Clone, Debug)]
enum Symbol {
    Var(VarId),
    Func(FnId),
    Typedef(QTy),
    Enumerator(u64, IntKind),
}

/// What a tag stands for.
#[derive(Clone, Copy, Debug)]
enum Tag {
    Record(RecordId, bool),
    Enum(IntKind),
}

#[derive(Debug, Default)]
struct Scope {
    symbols: FxHashMap<Name, Symbol>,
    tags: FxHashMap<Name, Tag>,
}

/// Where a function was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// In the user's file of this number.
    User(u32),
    Library,
}

impl Origin {
    pub(crate) fn is_user(self) -> bool {
        matches!(self, Origin::User(_))
    }
}

/// A function that is declared and perhaps defined.
#[derive(Debug)]
pub(crate) struct Func {
    pub(crate) name: Name,
    pub(crate) ty: Rc<FuncTy>,
    pub(crate) def: Option<Rc<FunctionDef>>,
    pub(crate) pos: Pos,
    pub(crate) origin: Origin,
}

/// A string literal: its units, terminating zero included, and their size.
#[derive(Debug)]
pub(crate) struct Str {
    pub(crate) units: Rc<[u32]>,
    pub(crate) kind: IntKind,
}

/// Everything known about a program, and the means to check the rest.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) types: Types,
    pub(crate) vars: Vec<Var>,
    pub(crate) funcs: Vec<Func>,
    pub(crate) strings: Vec<Str>,
    known_strings: FxHashMap<(Rc<[u32]>, IntKind), StrId>,
    /// The innermost scope last; the first is the file scope of the current unit.
    scopes: Vec<Scope>,
    /// The file scopes of the units that are not current.
    file_scopes: FxHashMap<Origin, Scope>,
    origin: Origin,
    /// The user's functions and objects that all of his files see.
    linked: FxHashMap<Name, Symbol>,
    /// In which unit an object is defined.
    defined_in: FxHashMap<VarId, Origin>,
    function: Option<FunctionState>,
    /// Whether it marks its errors with the words of verification competitions.
    pub(crate) competes: bool,
    /// Whether a number is a `long double`.
    pub(crate) long_double: Cell<bool>,
    /// Whether there is assembly of x86 that accesses memory or orders accesses.
    pub(crate) x86: Cell<bool>,
    /// What is called before `main`, and when the program ends.
    pub(crate) constructors: Vec<FnId>,
    pub(crate) destructors: Vec<FnId>,
    /// Arrays of variable length: pointers to their first elements, with the variables that hold their sizes in bytes.
    lengths: FxHashMap<VarId, VarId>,
    /// Whether the array that is declared next may have a variable length, and that length once it is met.
    open_length: Option<Option<crate::tree::Expr>>,
    /// From which byte on members are aligned to how much at most; see `Lines::packs`.
    pub(crate) packs: Vec<(u32, u64)>,
}

/// What has to be known inside a function.
#[derive(Debug)]
struct FunctionState {
    id: FnId,
    name: Name,
    ret: QTy,
    labels: FxHashMap<Name, (LabelId, bool, Pos)>,
    /// Cases of the switches around, innermost last; and whether each has a default.
    switches: Vec<Switch>,
    /// How many loops and switches `break` could leave, and how many loops `continue` could go on in.
    breaks: u32,
    continues: u32,
}

#[derive(Debug)]
struct Switch {
    kind: IntKind,
    cases: Vec<(u64, u64)>,
    has_default: bool,
}

impl Checker {
    pub(crate) fn new(model: DataModel) -> Self {
        Checker {
            types: Types::new(model),
            vars: Vec::new(),
            funcs: Vec::new(),
            strings: Vec::new(),
            known_strings: FxHashMap::default(),
            scopes: vec![Scope::default()],
            file_scopes: FxHashMap::default(),
            origin: Origin::User(0),
            linked: FxHashMap::default(),
            defined_in: FxHashMap::default(),
            function: None,
            competes: false,
            long_double: Cell::new(false),
            x86: Cell::new(false),
            constructors: Vec::new(),
            destructors: Vec::new(),
            lengths: FxHashMap::default(),
            open_length: None,
            packs: Vec::new(),
        }
    }

    /// Checks what stands at file scope, and returns what is wrong with it.
    pub(crate) fn unit(&mut self, unit: &Unit, origin: Origin) -> Vec<Fault> {
        self.enter_unit(origin);
        let mut faults = Vec::new();
        for item in &unit.items {
            let result = match item {
                Item::Decl(declaration) => self.file_declaration(declaration),
                Item::Function(def) => self.function_definition(def),
                Item::StaticAssert(assertion) => self.static_assert(assertion),
            };
            faults.extend(result.err());
            self.scopes.truncate(1);
        }
        faults
    }

    fn enter_unit(&mut self, origin: Origin) {
        if self.origin != origin {
            let entered = self.file_scopes.remove(&origin).unwrap_or_default();
            let left = std::mem::replace(&mut self.scopes[0], entered);
            self.file_scopes.insert(self.origin, left);
            self.origin = origin;
            self.types.unit = if let Origin::User(number) = origin { number } else { u32::MAX };
        }
    }

    /// Checks the body of a function. The caller asks once per function.
    pub(crate) fn body(&mut self, id: FnId) -> Checked<Option<Body>> {
        let Some(def) = self.funcs[id.0 as usize].def.clone() else { return Ok(None) };
        self.enter_unit(self.funcs[id.0 as usize].origin);
        self.scopes.truncate(1);
        let result = self.function_body(id, &def);
        self.scopes.truncate(1);
        self.function = None;
        result.map(Some)
    }

    /// The user's function with this name that is seen from everywhere.
    pub(crate) fn user_function(&self, name: &str) -> Option<FnId> {
        match self.linked.get(name) {
            Some(Symbol::Func(id)) => Some(*id),
            _ => None,
        }
    }

    /// Whether the program declares functions that verification competitions give a meaning.
    pub(crate) fn speaks_to_verifiers(&self) -> bool {
        let words = ["__VERIFIER_nondet_", "__VERIFIER_assume", "__VERIFIER_error"];
        self.linked.keys().any(|name| **name == *"reach_error" || words.iter().any(|word| name.starts_with(word)))
    }

    /// The function with this name at the file scope of a unit.
    pub(crate) fn function_named(&mut self, name: &str, origin: Origin) -> Option<FnId> {
        self.enter_unit(origin);
        match self.scopes[0].symbols.get(name) {
            Some(Symbol::Func(id)) => Some(*id),
            _ => None,
        }
    }

    /// Declares a function of the library that the program calls without a declaration, as old C and the compilers' own headers do; whether there is one.
    fn declare_implicitly(&mut self, name: &Name, pos: Pos) -> bool {
        let library = self.file_scopes.get(&Origin::Library);
        let known = match library.and_then(|scope| scope.symbols.get(name)) {
            Some(Symbol::Func(id)) => Some(self.func(*id).ty.clone()),
            _ => None,
        };
        // Those that have no body there return a number.
        let printing = matches!(&**name, "printf" | "fprintf" | "puts" | "putchar" | "perror" | "fflush");
        let unknown = || FuncTy { ret: Ty::INT.plain(), params: Vec::new(), variadic: false, prototype: false };
        let bytes = || Ty::Void.plain().pointer().plain();
        let second = match &**name {
            "memset" => Some(Ty::INT.plain()),
            "memcpy" | "memmove" | "mempcpy" => Some(bytes()),
            _ => None,
        };
        let moving = second.map(|second| {
            let params = vec![bytes(), second, self.types.size_type().plain()];
            Rc::new(FuncTy { ret: bytes(), params, variadic: false, prototype: true })
        });
        let ty = known.or(moving).or_else(|| printing.then(|| Rc::new(unknown())));
        self.origin.is_user() && ty.is_some_and(|ty| self.declare_function(name, ty, true, pos).is_ok())
    }

    pub(crate) fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0 as usize]
    }

    /// Whether the variable is the pointer to an array of variable length.
    pub(crate) fn is_variable_array(&self, id: VarId) -> bool {
        self.lengths.contains_key(&id)
    }

    pub(crate) fn func(&self, id: FnId) -> &Func {
        &self.funcs[id.0 as usize]
    }

    fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.symbols.get(name))
    }

    fn lookup_tag(&self, name: &str) -> Option<Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name)).copied()
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the file scope is never popped")
    }

    fn at_file_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    fn scoped<T>(&mut self, part: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        self.scopes.push(Scope::default());
        let result = part(self);
        self.scopes.pop();
        result
    }

    fn new_var(&mut self, var: Var) -> VarId {
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    fn string(&mut self, units: Rc<[u32]>, kind: IntKind) -> StrId {
        let known = &mut self.known_strings;
        if let Some(id) = known.get(&(units.clone(), kind)) {
            return *id;
        }
        let id = StrId(self.strings.len() as u32);
        known.insert((units.clone(), kind), id);
        self.strings.push(Str { units, kind });
        id
    }

    /// The initial value of a `const` object that is known here.
    fn known_value(&self, id: VarId) -> Option<Constant> {
        let var = self.var(id);
        let crate::tree::Storage::Static { thread_local: false, defined: true, init } = &var.storage else {
            return None;
        };
        if !var.ty.quals.constant || var.ty.quals.volatile || self.types.scalar(&var.ty.ty).is_none() {
            return None;
        }
        Some(init.first().map_or(Constant::Int(0), |part| part.value))
    }
}
