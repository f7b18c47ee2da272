//! What engines do beyond the published methods, which lose executions without any of it.
//!
//! Each engine has a list of such rules. They are always followed, but for tests that take one out to show what is lost then.

/// The settings of an engine that has such rules.
pub(crate) trait Follows<Rule: PartialEq> {
    /// The rule that is left out.
    #[cfg(test)]
    fn without(&self) -> Option<Rule>;

    /// Whether a rule is followed.
    #[cfg(test)]
    fn follows(&self, rule: Rule) -> bool {
        self.without() != Some(rule)
    }

    /// Whether a rule is followed.
    #[cfg(not(test))]
    fn follows(&self, _: Rule) -> bool {
        true
    }
}
