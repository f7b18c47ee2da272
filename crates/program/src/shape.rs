//! What stands where in an object, in the words of the source.
//!
//! Memory knows bytes; people know `pool->threads_alive` and `ring.buf[3]`. A front end may say what its objects are made of, and messages then name parts of
//! objects as the source does. Nothing else depends on it. Shapes stand beside a program, by the names of its objects, and are not part of its text.

use crate::source::Span;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// What an object is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its size in bytes.
    pub size: u32,
    /// Its parts.
    pub parts: Parts,
}

/// The parts of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// None that anybody would name.
    Whole,
    /// Elements of one shape.
    Elements(Arc<Shape>),
    /// Members, in ascending order of their places.
    Members {
        /// What the source calls the type, if anything.
        tag: Option<String>,
        /// The members.
        list: Vec<Member>,
    },
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name; `None` if its own members are meant to be named without it.
    pub name: Option<String>,
    /// Where it begins.
    pub offset: u32,
    /// What it is made of.
    pub shape: Arc<Shape>,
}

/// The shapes of a program's objects, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    /// Of global objects, by name.
    pub globals: BTreeMap<String, Arc<Shape>>,
    /// Of local objects, by function and name.
    pub locals: BTreeMap<(String, String), Arc<Shape>>,
    /// Of elements of what an allocation makes, by its place: line and column of a file.
    pub allocations: BTreeMap<(u32, u32, u32), Arc<Shape>>,
}

impl Shapes {
    /// How [`Shapes::allocations`] names a place.
    pub fn place(span: Span) -> (u32, u32, u32) {
        (span.file, span.line, span.column)
    }
}

impl Shape {
    /// How the part at this distance is reached from the object: `.next`, `[3].key`; empty for the object itself, and `None` if the source has no word for it.
    pub fn path(&self, offset: u32) -> Option<String> {
        let mut path = String::new();
        self.walk(offset, &mut path).then_some(path)
    }

    fn walk(&self, offset: u32, path: &mut String) -> bool {
        match &self.parts {
            Parts::Whole => offset == 0,
            Parts::Elements(element) => {
                if element.size == 0 || offset >= self.size {
                    return false;
                }
                let _ = write!(path, "[{}]", offset / element.size);
                element.walk(offset % element.size, path)
            }
            Parts::Members { list, .. } => list.iter().any(|member| {
                let end = member.offset.saturating_add(member.shape.size);
                if !(member.offset..end).contains(&offset) {
                    return false;
                }
                let length = path.len();
                if let Some(name) = &member.name {
                    path.push('.');
                    path.push_str(name);
                }
                let found = member.shape.walk(offset - member.offset, path);
                if !found {
                    path.truncate(length);
                }
                found
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: Option<&str>, offset: u32, shape: &Arc<Shape>) -> Member {
        Member { name: name.map(str::to_owned), offset, shape: shape.clone() }
    }

    fn record(size: u32, list: Vec<Member>) -> Arc<Shape> {
        Arc::new(Shape { size, parts: Parts::Members { tag: None, list } })
    }

    #[test]
    fn parts_have_the_names_of_the_source() {
        let int = Arc::new(Shape { size: 4, parts: Parts::Whole });
        let pair = record(8, vec![member(Some("a"), 0, &int), member(Some("b"), 4, &int)]);
        let pairs = Arc::new(Shape { size: 24, parts: Parts::Elements(pair.clone()) });
        let all = record(36, vec![member(Some("n"), 0, &int), member(Some("p"), 4, &pairs), member(None, 28, &pair)]);
        let path = |offset| all.path(offset);
        assert_eq!(path(0).as_deref(), Some(".n"));
        assert_eq!(path(16).as_deref(), Some(".p[1].b"));
        assert_eq!(path(32).as_deref(), Some(".b"));
        assert_eq!([path(2), path(36)], [None, None]);
    }
}
