//! Which part of an object does each element of an initialiser go to?
//!
//! The list is read with a cursor; inside an aggregate without braces of its own the same cursor goes on (brace
//! elision). The result is a list of scalars with their offsets, in order; a later one for the same place replaces
//! an earlier one. What is not mentioned is zero.
//!
//! Deviation: after a designator of more than one step (`.a.x = 1`) the next element must have a designator too.

use super::{Checked, Checker};
use crate::ctype::{Bits, IntKind, QTy, Ty};
use crate::parse::Fault;
use crate::syntax::{self, Designator, InitItem};
use crate::token::Pos;
use crate::tree::{Expr, ExprKind, Init, InitPart};

/// More parts than this are refused.
const MAX_PARTS: usize = 1 << 20;

/// A place inside the object.
#[derive(Clone)]
struct Place {
    offset: u64,
    bits: Option<Bits>,
    ty: QTy,
}

/// Reads a list item by item.
struct Cursor<'a> {
    items: &'a [InitItem],
    at: usize,
    /// The value of the current item, once it was checked.
    ready: Option<Expr>,
}

impl Checker {
    /// The initialiser of an object of this type, and the type with an open array size settled.
    pub(super) fn initializer(&mut self, ty: &QTy, init: &syntax::Init) -> Checked<(Init, QTy)> {
        match init {
            syntax::Init::Expr(expr) => {
                let value = self.expr(expr)?;
                if let (Ty::Array(element, n), ExprKind::Str(_)) = (&ty.ty, &value.kind) {
                    let mut parts = Vec::new();
                    let place = Place { offset: 0, bits: None, ty: ty.clone() };
                    let length = self.string_parts(&place, &value, &mut parts)?;
                    let n = n.unwrap_or(length);
                    let ty = QTy { ty: Ty::Array(element.clone(), Some(n)), quals: ty.quals };
                    return Ok((Init::Parts(parts), ty));
                }
                if let Ty::Array(..) = ty.ty {
                    return Err(Fault::new(expr.pos, "an array needs an initialiser in braces"));
                }
                let value = self.rvalue(value)?;
                Ok((Init::Value(self.convert(value, &ty.ty)?), ty.clone()))
            }
            syntax::Init::List(items, pos) => self.braced_initializer(ty, items, *pos),
        }
    }

    pub(super) fn braced_initializer(&mut self, ty: &QTy, items: &[InitItem], pos: Pos) -> Checked<(Init, QTy)> {
        let mut parts = Vec::new();
        let place = Place { offset: 0, bits: None, ty: ty.clone() };
        let length = self.braced(&place, items, pos, &mut parts)?;
        let mut ty = ty.clone();
        if let Ty::Array(element, None) = &ty.ty {
            ty.ty = Ty::Array(element.clone(), Some(length));
            if self.types.size(&ty.ty).is_none() {
                return Err(Fault::new(pos, "this array is too large"));
            }
        }
        if ty.ty.is_scalar() {
            let zero = Expr { kind: ExprKind::Const(0), ty: ty.value(), pos };
            let value = parts.pop().map_or(zero, |part| part.value);
            return Ok((Init::Value(value), ty));
        }
        Ok((Init::Parts(parts), ty))
    }

    /// A braced list for the object at `place`; returns the number of elements if it is an array.
    fn braced(&mut self, place: &Place, items: &[InitItem], pos: Pos, parts: &mut Vec<InitPart>) -> Checked<u64> {
        if let Ty::Record(id) = place.ty.ty
            && self.types.record(id).tag.as_deref() == Some(super::types::VECTOR)
        {
            return Err(Fault::new(pos, "values of vector types are not supported"));
        }
        let mut cursor = Cursor { items, at: 0, ready: None };
        // A string in braces.
        if let (Ty::Array(element, _), [item]) = (&place.ty.ty, items)
            && item.designators.is_empty()
            && matches!(element.ty, Ty::Int(_))
            && let syntax::Init::Expr(expr) = &item.init
            && matches!(expr.kind, syntax::ExprKind::Str(..))
        {
            let value = self.expr(expr)?;
            return self.string_parts(place, &value, parts);
        }
        match &place.ty.ty {
            Ty::Array(..) | Ty::Record(_) => {
                let length = self.aggregate(place, &mut cursor, true, pos, parts)?;
                if let Some(item) = items.get(cursor.at) {
                    return Err(Fault::new(item.pos, "more initial values than the object has parts"));
                }
                Ok(length)
            }
            _ => {
                if let Some(item) = items.first() {
                    match &item.init {
                        syntax::Init::List(inner, pos) => {
                            self.braced(place, inner, *pos, parts)?;
                        }
                        syntax::Init::Expr(_) => self.scalar_part(place, &mut cursor, parts)?,
                    }
                }
                match items.get(1) {
                    Some(item) => Err(Fault::new(item.pos, "more than one initial value for a scalar")),
                    None => Ok(1),
                }
            }
        }
    }

    /// Fills an array or record from the cursor. `own` says whether the list is this aggregate's own, so that
    /// designators belong to it and it ends with the list.
    fn aggregate(
        &mut self,
        place: &Place,
        cursor: &mut Cursor,
        own: bool,
        pos: Pos,
        parts: &mut Vec<InitPart>,
    ) -> Checked<u64> {
        let (mut index, mut length) = (0u64, 0u64);
        let mut lost = false;
        while let Some(item) = cursor.items.get(cursor.at) {
            let (element, repeat) = if item.designators.is_empty() {
                if lost {
                    return Err(Fault::new(
                        item.pos,
                        "an element without designator after a designator of several steps",
                    )
                    .help("give this element a designator too"));
                }
                let Some(element) = self.element(place, index)? else { break };
                (element, 0)
            } else {
                if !own {
                    break;
                }
                let (element, at, last) = self.designated(place, &item.designators)?;
                index = at;
                lost = item.designators.len() > 1;
                (element, last - at)
            };
            let before = parts.len();
            let replaces = !item.designators.is_empty();
            self.part(&element, cursor, parts)?;
            if replaces {
                drop_replaced(parts, before, &element, &self.types);
            }
            if repeat > 0 {
                self.repeat(&element, parts, repeat, pos)?;
            }
            index += 1 + repeat;
            length = length.max(index);
            if parts.len() > MAX_PARTS {
                return Err(Fault::new(pos, "this initialiser is too large"));
            }
            let is_union = matches!(place.ty.ty, Ty::Record(id) if self.types.record(id).is_union);
            if is_union && !own {
                break;
            }
            if is_union {
                index = u64::MAX - 1;
            }
        }
        Ok(length)
    }

    /// The element an undesignated initialiser goes to.
    fn element(&self, place: &Place, index: u64) -> Checked<Option<Place>> {
        Ok(match &place.ty.ty {
            Ty::Array(element, n) => {
                if n.is_some_and(|n| index >= n) {
                    return Ok(None);
                }
                let size = self.types.size(&element.ty).unwrap_or(0);
                Some(Place { offset: place.offset + index * size, bits: None, ty: (**element).clone() })
            }
            Ty::Record(id) => {
                let fields = self.types.record(*id).fields.as_deref().unwrap_or(&[]);
                let field = usize::try_from(index).ok().and_then(|i| fields.get(i));
                field.map(|f| Place { offset: place.offset + f.offset, bits: f.bits, ty: f.ty.clone() })
            }
            _ => None,
        })
    }

    /// The place designators lead to, and the first and last index of their first step.
    fn designated(&mut self, place: &Place, designators: &[Designator]) -> Checked<(Place, u64, u64)> {
        let mut current = place.clone();
        let mut first = None;
        for (step, designator) in designators.iter().enumerate() {
            let (low, high);
            match (designator, &current.ty.ty) {
                (Designator::Field(name, pos), Ty::Record(id)) => {
                    let id = *id;
                    let Some(field) = self.types.field(id, name) else {
                        let shown = self.types.show(&current.ty);
                        return Err(Fault::new(*pos, format!("`{shown}` has no member `{name}`")));
                    };
                    let fields = self.types.record(id).fields.as_deref().unwrap_or(&[]);
                    let holds = |f: &crate::ctype::Field| match (&f.name, &f.ty.ty) {
                        (Some(n), _) => n == name,
                        (None, Ty::Record(inner)) => self.types.field(*inner, name).is_some(),
                        _ => false,
                    };
                    low = fields.iter().position(holds).unwrap_or(0) as u64;
                    high = low;
                    current = Place { offset: current.offset + field.offset, bits: field.bits, ty: field.ty };
                }
                (Designator::Index(expr), Ty::Array(element, n)) => {
                    let (element, n) = (element.clone(), *n);
                    low = self.array_index(expr, n)?;
                    high = low;
                    let size = self.types.size(&element.ty).unwrap_or(0);
                    current = Place { offset: current.offset + low * size, bits: None, ty: (*element).clone() };
                }
                (Designator::Range(from, to), Ty::Array(element, n)) => {
                    let (element, n) = (element.clone(), *n);
                    low = self.array_index(from, n)?;
                    high = self.array_index(to, n)?;
                    if high < low || step > 0 {
                        return Err(Fault::new(from.pos, "this range of elements is not supported"));
                    }
                    let size = self.types.size(&element.ty).unwrap_or(0);
                    current = Place { offset: current.offset + low * size, bits: None, ty: (*element).clone() };
                }
                (Designator::Field(_, pos), _) => return Err(Fault::new(*pos, "only records have members")),
                (Designator::Index(e) | Designator::Range(e, _), _) => {
                    return Err(Fault::new(e.pos, "only arrays have elements"));
                }
            }
            first.get_or_insert((low, high));
        }
        let (low, high) = first.unwrap_or((0, 0));
        Ok((current, low, high))
    }

    fn array_index(&mut self, expr: &syntax::Expr, n: Option<u64>) -> Checked<u64> {
        let index = self.constant_int(expr)?;
        if index >= n.unwrap_or(crate::ctype::MAX_OBJECT) {
            return Err(Fault::new(expr.pos, "this index is outside the array"));
        }
        Ok(index)
    }

    /// Initialises one element from the current item.
    fn part(&mut self, place: &Place, cursor: &mut Cursor, parts: &mut Vec<InitPart>) -> Checked<()> {
        let Some(item) = cursor.items.get(cursor.at) else { return Ok(()) };
        let expr = match &item.init {
            syntax::Init::List(items, pos) => {
                cursor.at += 1;
                self.braced(place, items, *pos, parts)?;
                return Ok(());
            }
            syntax::Init::Expr(expr) => expr,
        };
        match &place.ty.ty {
            Ty::Array(element, _) => {
                self.peek(cursor, expr)?;
                let is_string = cursor.ready.as_ref().is_some_and(|e| matches!(e.kind, ExprKind::Str(_)));
                if is_string && matches!(element.ty, Ty::Int(_)) {
                    let value = cursor.take();
                    if let Some(value) = value {
                        self.string_parts(place, &value, parts)?;
                    }
                    return Ok(());
                }
                self.elided(place, cursor, item.pos, parts)
            }
            Ty::Record(id) => {
                self.peek(cursor, expr)?;
                let same = cursor.ready.as_ref().is_some_and(|e| e.ty.ty == Ty::Record(*id));
                if same { self.scalar_part(place, cursor, parts) } else { self.elided(place, cursor, item.pos, parts) }
            }
            _ => self.scalar_part(place, cursor, parts),
        }
    }

    fn elided(&mut self, place: &Place, cursor: &mut Cursor, pos: Pos, parts: &mut Vec<InitPart>) -> Checked<()> {
        let before = cursor.at;
        self.aggregate_elided(place, cursor, pos, parts)?;
        if cursor.at == before {
            return Err(Fault::new(pos, "this object cannot be initialised like that"));
        }
        Ok(())
    }

    /// Brace elision: fills the aggregate from the enclosing list, its first item without regard to designators
    /// (they led here).
    fn aggregate_elided(
        &mut self,
        place: &Place,
        cursor: &mut Cursor,
        pos: Pos,
        parts: &mut Vec<InitPart>,
    ) -> Checked<()> {
        if let Some(first) = self.element(place, 0)? {
            self.part(&first, cursor, parts)?;
            if let Ty::Record(id) = place.ty.ty
                && self.types.record(id).is_union
            {
                return Ok(());
            }
            let mut index = 1;
            while cursor.items.get(cursor.at).is_some_and(|item| item.designators.is_empty()) {
                let Some(element) = self.element(place, index)? else { break };
                self.part(&element, cursor, parts)?;
                index += 1;
                if parts.len() > MAX_PARTS {
                    return Err(Fault::new(pos, "this initialiser is too large"));
                }
            }
        }
        Ok(())
    }

    fn peek(&mut self, cursor: &mut Cursor, expr: &syntax::Expr) -> Checked<()> {
        if cursor.ready.is_none() {
            cursor.ready = Some(self.expr(expr)?);
        }
        Ok(())
    }

    fn scalar_part(&mut self, place: &Place, cursor: &mut Cursor, parts: &mut Vec<InitPart>) -> Checked<()> {
        if let Some(InitItem { init: syntax::Init::Expr(expr), .. }) = cursor.items.get(cursor.at) {
            self.peek(cursor, expr)?;
        }
        if let Some(value) = cursor.take() {
            let value = self.rvalue(value)?;
            let value = self.convert(value, &place.ty.ty)?;
            parts.push(InitPart { offset: place.offset, bits: place.bits, ty: place.ty.clone(), value });
        }
        Ok(())
    }

    /// The characters of a string literal; returns their number, the terminating zero included.
    fn string_parts(&mut self, place: &Place, value: &Expr, parts: &mut Vec<InitPart>) -> Checked<u64> {
        let (ExprKind::Str(id), Ty::Array(element, n)) = (&value.kind, &place.ty.ty) else {
            return Err(Fault::new(value.pos, "a string literal is needed here"));
        };
        let string = &self.strings[id.0 as usize];
        let size = |kind: IntKind| u64::from(kind.size(self.types.model));
        let width = size(string.kind);
        // GNU also lets a plain string initialise wider characters.
        let Some(step) = element.ty.int().map(size).filter(|&step| step == width || (width == 1 && step > 1)) else {
            return Err(Fault::new(value.pos, "this string does not fit the array's elements"));
        };
        let length = string.units.len() as u64;
        if n.is_some_and(|n| length - 1 > n) {
            return Err(Fault::new(value.pos, "this string is longer than the array"));
        }
        for (i, &unit) in string.units.iter().enumerate().take(n.unwrap_or(length) as usize) {
            let bits = super::truncate(&self.types, &element.ty, u64::from(unit));
            let ty = (**element).clone();
            let value = Expr { kind: ExprKind::Const(bits), ty: ty.value(), pos: value.pos };
            parts.push(InitPart { offset: place.offset + i as u64 * step, bits: None, ty, value });
        }
        Ok(length)
    }

    /// Copies the parts of the element at `place` to the `count` elements after it.
    fn repeat(&mut self, place: &Place, parts: &mut Vec<InitPart>, count: u64, pos: Pos) -> Checked<()> {
        let size = self.types.size(&place.ty.ty).unwrap_or(0);
        let inside = |part: &InitPart| (place.offset..place.offset + size).contains(&part.offset);
        let original: Vec<InitPart> = parts.iter().filter(|part| inside(part)).cloned().collect();
        if original.iter().any(|part| self.evaluate(&part.value).is_err()) {
            return Err(Fault::new(pos, "a range of elements needs a constant as its initial value"));
        }
        if (original.len() as u64).saturating_mul(count) > MAX_PARTS as u64 {
            return Err(Fault::new(pos, "this initialiser is too large"));
        }
        for step in 1..=count {
            let shifted = original.iter().map(|p| InitPart { offset: p.offset + step * size, ..p.clone() });
            parts.extend(shifted);
        }
        Ok(())
    }
}

impl Cursor<'_> {
    /// The checked value of the current item, moving on.
    fn take(&mut self) -> Option<Expr> {
        self.at += 1;
        self.ready.take()
    }
}

/// Removes the parts before `from` that lie in `place`, which was initialised again.
fn drop_replaced(parts: &mut Vec<InitPart>, from: usize, place: &Place, types: &crate::ctype::Types) {
    let size = types.size(&place.ty.ty).unwrap_or(0);
    let mut index = 0;
    parts.retain(|part| {
        let old = index < from;
        index += 1;
        let same_bits = place.bits.is_none() || part.bits == place.bits;
        !(old && (place.offset..place.offset + size).contains(&part.offset) && same_bits)
    });
}
