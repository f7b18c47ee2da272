//! Strongly connected components in linearly many symbolic steps.
//!
//! Source: the skeletons of Gentilini, Piazza and Policriti (2003). From a vertex all that can be reached is found level by level; a *skeleton*, one
//! path to the last level, is kept. The component of the vertex is cut out; what was reached and what was not are done in the same way, and the skeleton tells
//! where to begin in them: the next component found pays for the steps that made the part of the skeleton that lies in it.
//!
//! Cost: at most a fixed multiple of the number of vertices, which a test asserts. Deviation: components go to the caller one by one as they are found,
//! as a graph without cycles has as many of them as vertices.

use crate::sets::{Backend, Space, Stop};

/// What is left to do: these vertices, a skeleton among them, and its last vertex.
struct Work<S> {
    vertices: S,
    skeleton: S,
    last: S,
}

/// Hands every strongly connected component of a set, the trivial ones too, to `found`.
///
/// # Errors
/// If a limit is reached, or `found` says so.
pub fn each_component<B: Backend>(
    space: &Space<B>,
    within: &B::Set,
    mut found: impl FnMut(B::Set) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut work = vec![Work { vertices: within.clone(), skeleton: space.none(), last: space.none() }];
    while let Some(Work { vertices, skeleton, last }) = work.pop() {
        if space.is_empty(&vertices) {
            continue;
        }
        let last = if space.is_empty(&skeleton) { space.pick(&vertices)? } else { last };
        let forward = forward(space, &vertices, &last)?;
        let component = space.reach(&forward.vertices, &last)?;
        let on_skeleton = space.and(&component, &skeleton)?;
        let left = space.minus(&skeleton, &component)?;
        let before = if space.is_empty(&on_skeleton) || space.is_empty(&left) {
            space.none()
        } else {
            space.and(&space.pre(&on_skeleton)?, &left)?
        };
        work.push(Work { vertices: space.minus(&vertices, &forward.vertices)?, skeleton: left, last: before });
        work.push(Work {
            vertices: space.minus(&forward.vertices, &component)?,
            skeleton: space.minus(&forward.skeleton, &component)?,
            last: space.minus(&forward.last, &component)?,
        });
        found(component)?;
    }
    Ok(())
}

/// The strongly connected components of a set.
///
/// # Errors
/// If a limit is reached.
pub fn components<B: Backend>(space: &Space<B>, within: &B::Set) -> Result<Vec<B::Set>, Stop> {
    let mut all = Vec::new();
    each_component(space, within, |component| {
        all.push(component);
        Ok(())
    })?;
    Ok(all)
}

/// What can be reached from a vertex inside a set, and a shortest path to one of the vertices that are furthest.
fn forward<B: Backend>(space: &Space<B>, within: &B::Set, from: &B::Set) -> Result<Work<B::Set>, Stop> {
    let mut levels = Vec::new();
    let mut reached = space.none();
    let mut level = from.clone();
    while !space.is_empty(&level) {
        reached = space.or(&reached, &level)?;
        let next = space.minus(&space.and(&space.post(&level)?, within)?, &reached)?;
        levels.push(std::mem::replace(&mut level, next));
    }
    let furthest = levels.pop().expect("the vertex it began with is a level");
    let last = space.pick(&furthest)?;
    // The path grows at its beginning, so that is the only vertex whose predecessors are asked for.
    let (mut skeleton, mut first) = (last.clone(), last.clone());
    while let Some(level) = levels.pop() {
        first = space.pick(&space.and(&space.pre(&first)?, &level)?)?;
        skeleton = space.or(&skeleton, &first)?;
    }
    Ok(Work { vertices: reached, skeleton, last })
}
