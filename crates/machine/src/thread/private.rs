//! Accesses to objects that no other thread can reach, and the ends of their lives.

use super::{Access, Flow, Status, Thread, Visible, rest};
use crate::address::{Addr, Owner};
use crate::code::{Code, Operand};
use crate::objects::{ObjectKind, PrivateError};
use raddle_program::{Type, Unwritten, partial};
use raddle_trace::Property;

impl Thread {
    pub(super) fn access(&self, code: &Code, addr: Operand, ty: Type) -> Access {
        Access { addr: Addr(self.get(code, addr)), size: ty.size() as u8 }
    }

    /// The number of the private object that the access is to, if it is to one.
    #[inline]
    pub(super) fn private_object(&self, access: Access) -> Option<u32> {
        match access.addr.owner() {
            Owner::Thread(thread, number) if thread == self.id => {
                self.objects.get(number).filter(|object| object.is_private()).map(|_| number)
            }
            _ => None,
        }
    }

    /// Why the object may not be written, if it is one that may not.
    pub(super) fn constant(&self, code: &Code, access: Access) -> Option<Status> {
        let Owner::Global(id) = access.addr.owner() else { return None };
        code.globals.get(id.index()).filter(|global| global.constant)?;
        let name = code.describe(access.addr, &|_| Some(self));
        Some(self.failed(Property::Memory, format!("write to {name}, which is constant")))
    }

    pub(super) fn private_load(
        &self,
        code: &Code,
        number: u32,
        access: Access,
        unwritten: Unwritten,
    ) -> Result<u64, Status> {
        let object = self.objects.get(number).expect("just found");
        let value = match object.read(access.addr.offset(), u32::from(access.size)) {
            Err(PrivateError::Uninitialised(found)) => {
                self.forgives(code, unwritten, found).ok_or(PrivateError::Uninitialised(found))
            }
            value => value,
        };
        value.map_err(|error| self.private_failure(code, access.addr, error))
    }

    /// What a load gets that finds a value with bits missing; `None` if that is an error.
    pub(super) fn forgives(&self, code: &Code, unwritten: Unwritten, found: u64) -> Option<u64> {
        let (value, missing) = partial::split(found);
        match unwritten {
            Unwritten::Kept => Some(found),
            Unwritten::Zero => Some(value),
            Unwritten::Field(field) if missing & field.mask() == 0 => Some(value),
            Unwritten::Field(_) | Unwritten::Error => code.takes_for_zero(self.pc).then_some(value),
        }
    }

    pub(super) fn private_store(&mut self, code: &Code, number: u32, access: Access, value: u64) -> Flow {
        self.touch(number);
        let object = self.objects.get_mut(number);
        match object.write(access.addr.offset(), u32::from(access.size), value) {
            Ok(()) => Flow::Next,
            Err(error) => Flow::Rest(self.private_failure(code, access.addr, error)),
        }
    }

    /// Notes an effect on a private object, unless it was made in the turn of the loop that the thread is in: then it is
    /// gone when the turn is over, or some register has changed.
    fn touch(&mut self, number: u32) {
        if self.objects.is_among_first(self.turn_objects, number) {
            self.has_acted();
        }
    }

    pub(super) fn private_failure(&self, code: &Code, addr: Addr, error: PrivateError) -> Status {
        let name = code.describe(addr, &|_| Some(self));
        self.failed(
            Property::Memory,
            match error {
                PrivateError::OutOfBounds => format!("access out of bounds at {name}"),
                PrivateError::Freed => format!("access to {name}, whose life has ended"),
                PrivateError::Uninitialised(_) => format!("read of {name}, which was never written"),
            },
        )
    }

    /// Ends the life of an object of the heap, or of a block.
    pub(super) fn free(&mut self, code: &Code, addr: Addr, scoped: bool) -> Flow {
        if addr.0 == 0 {
            return Flow::Next;
        }
        let Owner::Thread(owner, number) = addr.owner() else {
            let name = code.describe(addr, &|_| None::<&Thread>);
            return Flow::Rest(self.failed(Property::Memory, format!("free of {name}, which was not allocated")));
        };
        if owner == self.id
            && let Some(object) = self.objects.get(number)
            && object.is_private()
        {
            let is_right = if scoped {
                matches!(object.kind, ObjectKind::Scoped(_))
            } else {
                matches!(object.kind, ObjectKind::Heap(_))
            };
            if !is_right || addr.offset() != 0 {
                let name = code.describe(addr, &|_| Some(self));
                let message = format!("free of {name}, which is not the start of an allocated object");
                return Flow::Rest(self.failed(Property::Memory, message));
            }
            self.touch(number);
            return match self.objects.get_mut(number).end() {
                Ok(()) => Flow::Next,
                Err(_) => {
                    let name = code.describe(addr, &|_| Some(self));
                    Flow::Rest(self.failed(Property::Memory, format!("{name} is freed twice")))
                }
            };
        }
        rest(Visible::Free { addr, scope: scoped })
    }
}
