//! What are objects made of, in the words of the source? For messages only; see [`raddle_program::Shape`].
//!
//! Objects of the program have a type. What an allocation makes has none; it is taken to consist of what the pointer points at that the call is converted to, in
//! the same expression: `struct node *n = malloc(sizeof *n)`. Members whose names begin with two underscores are the library's own, and stay without a
//! name.

use super::Lowerer;
use super::function::FnLowerer;
use crate::ctype::{QTy, Record, RecordId, Ty};
use crate::tree::{Expr, ExprKind};
use raddle_program::{Member, Parts, Shape, Shapes};
use std::sync::Arc;

/// Functions whose result is a new object.
const ALLOCATORS: [&str; 6] = ["malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "alloca"];

impl Lowerer<'_> {
    /// What an object of this type is made of, if it has parts.
    pub(super) fn shape_of_object(&mut self, ty: &QTy) -> Option<Arc<Shape>> {
        match &ty.ty {
            Ty::Array(element, _) if !matches!(element.ty, Ty::Array(..) | Ty::Record(_)) => None,
            Ty::Array(..) | Ty::Record(_) => Some(self.shape(&ty.ty)),
            _ => None,
        }
    }

    fn shape(&mut self, ty: &Ty) -> Arc<Shape> {
        let size = self.checker.types.size(ty).and_then(|size| u32::try_from(size).ok()).unwrap_or(0);
        let parts = match ty {
            Ty::Record(id) => return self.shape_of_record(*id, size),
            // Of an array of unknown length there are as many elements as there is room for.
            Ty::Array(element, count) => {
                let element = self.shape(&element.ty);
                let size = if count.is_none() { u32::MAX } else { size };
                return Arc::new(Shape { size, parts: Parts::Elements(element) });
            }
            _ => Parts::Whole,
        };
        Arc::new(Shape { size, parts })
    }

    fn shape_of_record(&mut self, id: RecordId, size: u32) -> Arc<Shape> {
        if let Some(known) = self.shapes.get(&id) {
            return known.clone();
        }
        let record = self.checker.types.record(id);
        let tag = record.tag.as_ref().map(|tag| tag.to_string());
        let fields: Vec<_> = record.fields.iter().flatten().filter(|field| field.bits.is_none()).cloned().collect();
        let units = units_of(record);
        let own = fields.iter().any(|field| field.name.as_ref().is_some_and(|name| name.starts_with("__")));
        let list = fields.into_iter().filter_map(|field| {
            let shape = self.shape(&field.ty.ty);
            let name = field.name.map(|name| name.to_string());
            Some(Member { name, offset: u32::try_from(field.offset).ok()?, shape })
        });
        let list: Vec<Member> = list.chain(units).collect();
        let parts = if own { Parts::Whole } else { Parts::Members { tag, list } };
        let shape = Arc::new(Shape { size, parts });
        self.shapes.insert(id, shape.clone());
        shape
    }
}

/// The words that bit-fields lie in, each called by all of them: `{kind, seq}`.
fn units_of(record: &Record) -> Vec<Member> {
    let mut units: Vec<(u64, u32, Vec<&str>)> = Vec::new();
    for field in record.fields.iter().flatten() {
        let (Some(bits), Some(name)) = (field.bits, &field.name) else { continue };
        let size = bits.unit.size();
        match units.iter_mut().find(|(at, known, _)| (*at, *known) == (field.offset, size)) {
            Some((.., names)) => names.push(name),
            None => units.push((field.offset, size, vec![name])),
        }
    }
    let member = |(at, size, names): (u64, u32, Vec<&str>)| {
        let name = if let [name] = names[..] { name.to_owned() } else { format!("{{{}}}", names.join(",")) };
        let shape = Arc::new(Shape { size, parts: Parts::Whole });
        Some(Member { name: Some(name), offset: u32::try_from(at).ok()?, shape })
    };
    units.into_iter().filter_map(member).collect()
}

impl FnLowerer<'_, '_> {
    /// If this is a call that makes an object, what a pointer of that type points at says what it is made of.
    pub(super) fn note_allocation(&mut self, call: &Expr, ty: &Ty) {
        let ExprKind::Call(callee, _) = &call.kind else { return };
        let (ExprKind::AddrOf(target), Some(to)) = (&callee.kind, ty.pointee()) else { return };
        let ExprKind::Func(id) = target.kind else { return };
        let func = self.program.checker.func(id);
        if self.pinned.is_some() || !ALLOCATORS.contains(&func.name.as_ref()) || matches!(to.ty, Ty::Void) {
            return;
        }
        let (element, place) = (self.program.shape(&to.ty), self.program.span(call.pos));
        self.program.program.shapes.allocations.insert(Shapes::place(place), element);
    }
}
