//! Where do the members of a record go? The System V rules, bit-fields included.

use crate::ctype::{Bits, Field, MAX_OBJECT, QTy, Record, RecordId, Ty, Types};
use crate::token::Name;
use raddle_program::Type;

/// A member before it has a place.
#[derive(Debug)]
pub(crate) struct Proto {
    pub(crate) name: Option<Name>,
    pub(crate) ty: QTy,
    /// Width of a bit-field; 0 closes the current unit.
    pub(crate) width: Option<u32>,
    /// Alignment asked for.
    pub(crate) align: u64,
    pub(crate) packed: bool,
}

/// Completes a record whose members have at most the alignment `pack`, if there is one; false if it is too large.
pub(crate) fn complete(types: &mut Types, id: RecordId, protos: Vec<Proto>, pack: Option<u64>, align: u64) -> bool {
    let is_union = types.record(id).is_union;
    let mut fields = Vec::new();
    // The first free bit, the size so far and the alignment so far.
    let (mut bit, mut size, mut max_align) = (0u64, 0u64, align.max(1));
    for proto in protos {
        let natural = types.object_align(&proto.ty);
        let pack = if proto.packed { Some(1) } else { pack };
        let packed = pack.is_some_and(|pack| pack == 1 || pack < natural);
        let field_align = pack.map_or(natural, |pack| natural.min(pack)).max(proto.align);
        let field_size = types.size(&proto.ty.ty).unwrap_or(0);
        let start = if is_union { 0 } else { bit };
        match proto.width {
            Some(0) => {
                bit = round_up(start, natural * 8);
                continue;
            }
            Some(width) => {
                let width64 = u64::from(width);
                let unit = field_size * 8;
                let crosses = start / unit != (start + width64 - 1) / unit;
                let start = if !packed && crosses { round_up(start, unit) } else { start };
                let start = if proto.align > 1 { round_up(start, proto.align * 8) } else { start };
                if proto.name.is_some() {
                    max_align = max_align.max(field_align);
                    // The unit is settled when the neighbours are known; until then `offset` counts bits.
                    let bits = Some(Bits { unit: Type::I8, shift: 0, width });
                    fields.push(Field { name: proto.name, ty: proto.ty, offset: start, bits });
                }
                bit = start + width64;
            }
            None => {
                let start = round_up(start, field_align * 8);
                max_align = max_align.max(field_align);
                fields.push(Field { name: proto.name, ty: proto.ty, offset: start / 8, bits: None });
                bit = start + field_size * 8;
            }
        }
        size = size.max(bit.div_ceil(8));
        if size > MAX_OBJECT {
            return false;
        }
    }
    let size = round_up(size.max(bit.div_ceil(8)), max_align);
    settle_units(types, &mut fields, size, is_union);
    let Record { fields: slot, size: record_size, align: record_align, .. } = &mut types.records[id.0 as usize];
    *slot = Some(fields);
    *record_size = size;
    *record_align = max_align;
    size <= MAX_OBJECT
}

fn settle_units(types: &Types, fields: &mut [Field], size: u64, is_union: bool) {
    let solid: Vec<(u64, u64)> = fields
        .iter()
        .filter(|f| f.bits.is_none())
        .map(|f| (f.offset, f.offset + types.size(&f.ty.ty).unwrap_or(0)))
        .collect();
    for field in fields.iter_mut() {
        let Some(bits) = &mut field.bits else { continue };
        let (start, width) = (field.offset, u64::from(bits.width));
        let declared = types.size(&field.ty.ty).unwrap_or(4);
        let unit_at = |bytes: u64| {
            let from = start / (8 * bytes) * bytes;
            let contains = start + width <= (from + bytes) * 8;
            let inside = from + bytes <= size;
            let alone = is_union || solid.iter().all(|&(a, b)| b <= from || from + bytes <= a);
            (from, contains, contains && inside && alone)
        };
        let (_, _, fits) = unit_at(declared);
        let bytes = if fits {
            declared
        } else {
            let clean = [1, 2, 4, 8].into_iter().find(|&b| unit_at(b).2);
            clean.or_else(|| [1, 2, 4, 8].into_iter().find(|&b| unit_at(b).1)).unwrap_or(8)
        };
        let (mut from, _, clean) = unit_at(bytes);
        let mut bytes = bytes;
        // Packed fields lie anywhere: then the unit does, too.
        if !clean {
            let anywhere = [1, 2, 4, 8].into_iter().flat_map(|bytes| {
                let last = start / 8;
                (last.saturating_sub(bytes - 1)..=last).rev().map(move |from| (from, bytes))
            });
            let found = anywhere.into_iter().find(|&(from, bytes)| {
                from * 8 <= start && start + width <= (from + bytes) * 8 && from + bytes <= size
            });
            (from, bytes) = found.unwrap_or((from, bytes));
        }
        bits.unit = Type::int(bytes as u32 * 8).unwrap_or(Type::I64);
        bits.shift = (start - from * 8) as u32;
        field.offset = from;
    }
}

fn round_up(value: u64, to: u64) -> u64 {
    value.div_ceil(to.max(1)) * to.max(1)
}

/// Whether a bit-field of this type may have this width.
pub(crate) fn width_fits(types: &Types, ty: &Ty, width: u64) -> bool {
    match ty {
        Ty::Int(crate::ctype::IntKind::Bool) => width <= 1,
        Ty::Int(kind) => width <= u64::from(kind.size(types.model)) * 8,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctype::{DataModel, IntKind};
    use crate::syntax::Quals;

    fn proto(name: &str, kind: IntKind, width: Option<u32>) -> Proto {
        let ty = QTy { ty: Ty::Int(kind), quals: Quals::default() };
        Proto { name: Some(name.into()), ty, width, align: 0, packed: false }
    }

    /// Where a member is: its offset, and for a bit-field the size of its unit and its place in it.
    type Member = (u64, Option<(u32, u32)>);

    fn offsets(protos: Vec<Proto>) -> (u64, Vec<Member>) {
        let mut types = Types::new(DataModel { long: 8 });
        let id = types.declare_record(false, None);
        assert!(complete(&mut types, id, protos, None, 1));
        let record = types.record(id);
        let fields = record.fields.as_ref().expect("completed");
        (record.size, fields.iter().map(|f| (f.offset, f.bits.map(|b| (b.unit.size(), b.shift)))).collect())
    }

    #[test]
    fn members_are_aligned_and_the_end_is_padded() {
        let (size, fields) = offsets(vec![
            proto("a", IntKind::Char, None),
            proto("b", IntKind::Long, None),
            proto("c", IntKind::Short, None),
        ]);
        assert_eq!((size, fields), (24, vec![(0, None), (8, None), (16, None)]));
    }

    #[test]
    fn bit_fields_share_a_unit_until_it_is_full() {
        let (size, fields) = offsets(vec![
            proto("a", IntKind::UInt, Some(3)),
            proto("b", IntKind::UInt, Some(20)),
            proto("c", IntKind::UInt, Some(10)),
        ]);
        assert_eq!((size, fields), (8, vec![(0, Some((4, 0))), (0, Some((4, 3))), (4, Some((4, 0)))]));
    }

    #[test]
    fn a_unit_does_not_touch_a_member_that_is_no_bit_field() {
        let (size, fields) = offsets(vec![proto("a", IntKind::Char, None), proto("b", IntKind::UInt, Some(8))]);
        assert_eq!((size, fields), (4, vec![(0, None), (1, Some((1, 0)))]));
    }
}
