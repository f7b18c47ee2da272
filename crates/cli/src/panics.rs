//! A panic is a bug in Raddle, and ends as one: with a message that asks for a report, not with a stack of frames.

use std::sync::{Mutex, PoisonError};

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics are kept for the report instead of being printed. `RUST_BACKTRACE` prints them as well.
pub(crate) fn install_hook() {
    let default = std::panic::take_hook();
    let wanted = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into());
        let place = info.location().map_or_else(String::new, |place| format!(" ({}:{})", place.file(), place.line()));
        // The first panic is the cause; the others come of it.
        LAST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(format!("{text}{place}"));
        if wanted {
            default(info);
        }
    }));
}

/// What the first panic said.
pub(crate) fn last() -> String {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_else(|| "panic".into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_panic_is_kept() {
        super::install_hook();
        for number in 1..3 {
            std::panic::catch_unwind(|| panic!("this is number {number}")).expect_err("it panics");
        }
        assert!(super::last().starts_with("this is number 1 ("), "{}", super::last());
    }
}
