//! Freeing large tables without waiting for it.
//!
//! A search that comes to its time limit may hold some gigabytes in millions of pieces, and giving them back one by one takes seconds. Nobody needs to wait for that.

/// What is smaller is freed at once, in bytes.
const LARGE: u64 = 16 << 20;

/// Frees something of about this size.
pub(super) fn free<T: Send + 'static>(what: T, bytes: u64) {
    if bytes >= LARGE {
        // If there can be no other thread, it is freed here.
        _ = std::thread::Builder::new().spawn(move || drop(what));
    }
}
