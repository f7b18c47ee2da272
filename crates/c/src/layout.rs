//! Where do the members of a record go? The System V rules, bit-fields included.

use crate::ctype::{Bits, Field, MAX_OBJECT, QTy, Record, RecordId, Rest, Ty, Types};
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
        // As GNU has it, `pack` limits what a member asks for, too, and lets bit-fields cross their units.
        let limited = |align: u64| pack.map_or(align, |pack| align.min(pack));
        let own_align = if proto.packed { 1 } else { natural };
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
                let may_cross = proto.packed || pack.is_some();
                let start = if !may_cross && crosses { round_up(start, unit) } else { start };
                let start = if proto.align > 1 { round_up(start, limited(proto.align) * 8) } else { start };
                if proto.name.is_some() {
                    let own_align = if pack.is_some() { limited(natural) } else { own_align };
                    max_align = max_align.max(own_align).max(limited(proto.align));
                    // The unit is settled when the neighbours are known; until then `offset` counts bits.
                    let bits = Some(Bits { unit: Type::I8, shift: 0, width, rest: None });
                    fields.push(Field { name: proto.name, ty: proto.ty, offset: start, bits });
                }
                bit = start + width64;
            }
            None => {
                let field_align = limited(own_align.max(proto.align));
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
            (contains && inside && alone).then_some((from, bytes))
        };
        let Some((from, bytes)) = [declared, 1, 2, 4, 8].into_iter().find_map(unit_at) else {
            // Packed fields lie anywhere: then the unit has their bytes and no others, if need be in two.
            (field.offset, *bits) = in_its_own_bytes(start, bits.width);
            continue;
        };
        bits.unit = Type::int(bytes as u32 * 8).unwrap_or(Type::I64);
        bits.shift = (start - from * 8) as u32;
        field.offset = from;
    }
}

/// The bytes in which a bit-field is that starts at this bit, as one unit or, if no unit has so many, as the largest one that fits and one that ends where it ends.
fn in_its_own_bytes(start: u64, width: u32) -> (u64, Bits) {
    let (from, end) = (start / 8, (start + u64::from(width)).div_ceil(8));
    let unit = |bytes: u64| Type::int(bytes as u32 * 8).unwrap_or(Type::I64);
    let first = [8, 4, 2, 1].into_iter().find(|&bytes| from + bytes <= end).unwrap_or(1);
    let shift = |at: u64, bit: u64| (bit - at * 8) as u32;
    let rest = (from + first < end).then(|| {
        let second = (end - from - first).next_power_of_two();
        Rest { at: end - second - from, unit: unit(second), shift: shift(end - second, (from + first) * 8) }
    });
    (from, Bits { unit: unit(first), shift: shift(from, start), width, rest })
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
