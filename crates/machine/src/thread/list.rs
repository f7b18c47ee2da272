//! Short lists of plain values, as a thread has some. Engines copy a thread for every event, and the lists of `smallvec` are copied
//! value by value; these are copied at once.

use smallvec::{Array, SmallVec};
use std::ops::{Deref, DerefMut};

/// A list that is kept in place up to `N` values.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct List<T: Copy, const N: usize>(SmallVec<[T; N]>)
where
    [T; N]: Array<Item = T>;

impl<T: Copy, const N: usize> Clone for List<T, N>
where
    [T; N]: Array<Item = T>,
{
    #[inline]
    fn clone(&self) -> Self {
        // Most are empty most of the time.
        if self.0.is_empty() { Self::default() } else { List(SmallVec::from_slice(&self.0)) }
    }
}

impl<T: Copy, const N: usize> Default for List<T, N>
where
    [T; N]: Array<Item = T>,
{
    #[inline]
    fn default() -> Self {
        List(SmallVec::new())
    }
}

impl<T: Copy, const N: usize> Deref for List<T, N>
where
    [T; N]: Array<Item = T>,
{
    type Target = SmallVec<[T; N]>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: Copy, const N: usize> DerefMut for List<T, N>
where
    [T; N]: Array<Item = T>,
{
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
