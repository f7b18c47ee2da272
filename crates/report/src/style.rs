//! The colours, each for one meaning.

use anstyle::AnsiColor;
pub(crate) use anstyle::Style;

/// Something is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// All is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Neither.
pub(crate) const OPEN: Style = AnsiColor::Yellow.on_default().bold();
/// A heading.
pub(crate) const HEAD: Style = Style::new().bold();
/// Of less importance.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// A write that waits in a store buffer.
pub(crate) const BUFFERED: Style = AnsiColor::Yellow.on_default();
/// A write that leaves it.
pub(crate) const FLUSHED: Style = AnsiColor::Cyan.on_default();
/// No colour.
pub(crate) const PLAIN: Style = Style::new();
