//! The initial state: `{ x=0; int y = 1; int *p = &x; 0:EAX=1; [z]=2; int a[2] = {1,2}; 0:r1=x; }`.

use crate::Result_;
use crate::condition::{Value, spot, value};
use crate::cursor::Cursor;
use crate::lex::Kind;
use crate::types::{CType, pointers, specifier};
use crate::world::World;

pub(crate) fn read(cursor: &mut Cursor<'_>, world: &mut World) -> Result_<()> {
    cursor.expect("{")?;
    while !cursor.eat("}") {
        if !cursor.eat(";") && !cursor.eat(",") {
            entry(cursor, world)?;
            if !cursor.is(";") && !cursor.is(",") && !cursor.is("}") {
                return Err(cursor.wrong("`;`"));
            }
        }
    }
    // Some tools end it like a declaration.
    cursor.eat(";");
    Ok(())
}

fn entry(cursor: &mut Cursor<'_>, world: &mut World) -> Result_<()> {
    // A name that is a type as well, as `mutex`, is a type if a name follows.
    let names_something =
        matches!((cursor.peek(), cursor.ahead(1)), (Kind::Word(_), Kind::Sign("=" | ";" | "}" | "[" | ":")));
    let ty = if names_something { None } else { specifier(cursor)? };
    let ty = ty.map(|ty| pointers(cursor, ty));
    let place = cursor.span();
    let mut spot = spot(cursor)?;
    if let Some(thread) = spot.thread {
        let start = if cursor.eat("=") { value(cursor)? } else { Value::Number(0) };
        return world.start_register(thread, &spot, ty, start);
    }
    // `int a[2]` is an array of two, not its third element.
    let mut length = std::mem::take(&mut spot.indexed).then_some(spot.index);
    let mut values = Vec::new();
    if cursor.eat("=") {
        if cursor.eat("{") {
            while !cursor.eat("}") {
                if !cursor.eat(",") && !cursor.eat(";") {
                    values.push(value(cursor)?);
                }
            }
            length = Some(length.unwrap_or(0).max(values.len() as u32));
        } else if cursor.eat_word("ATOMIC_VAR_INIT") {
            cursor.expect("(")?;
            values.push(value(cursor)?);
            cursor.expect(")")?;
        } else if cursor.eat("(") {
            values.push(value(cursor)?);
            cursor.expect(")")?;
        } else {
            values.push(value(cursor)?);
        }
    }
    if length == Some(0) {
        return Err(raddle_program::Diagnostic::new(place, format!("`{}` has no elements", spot.name)).into());
    }
    if ty == Some(CType::Void) {
        return Err(raddle_program::Diagnostic::new(place, format!("`{}` has no value", spot.name)).into());
    }
    world.declare(&spot, ty, length, values)
}
