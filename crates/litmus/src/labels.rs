//! Labels of a thread, which may be jumped to before they are met.

use crate::Result_;
use raddle_program::{BlockId, Diagnostic, FunctionBuilder, Span};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: BTreeMap<String, (BlockId, Span, bool)>,
}

impl Labels {
    /// The block of a label.
    pub(crate) fn target(&mut self, name: &str, span: Span, builder: &mut FunctionBuilder) -> BlockId {
        self.known.entry(name.to_owned()).or_insert_with(|| (builder.block(), span, false)).0
    }

    /// The label stands here.
    pub(crate) fn define(&mut self, name: &str, span: Span, builder: &mut FunctionBuilder) -> Result_<BlockId> {
        let block = self.target(name, span, builder);
        let entry = self.known.get_mut(name).expect("it was just asked for");
        if std::mem::replace(&mut entry.2, true) {
            return Err(Diagnostic::new(span, format!("the label `{name}` stands here a second time")).into());
        }
        Ok(block)
    }

    /// Every label that is jumped to stands somewhere.
    pub(crate) fn check(&self) -> Result_<()> {
        match self.known.iter().find(|(_, (_, _, defined))| !defined) {
            None => Ok(()),
            Some((name, (_, span, _))) => {
                Err(Diagnostic::new(*span, format!("there is no label `{name}` in this thread")).into())
            }
        }
    }
}
