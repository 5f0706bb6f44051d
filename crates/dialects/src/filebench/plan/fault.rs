//! A planning error before it is tied to a file's text: span, message, hint.

use crate::filebench::Span;

/// An error that prevents the script from running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Position in the text of the current command.
    pub span: Span,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Result of most planning steps.
pub(super) type Fallible<T> = Result<T, Fault>;

impl Fault {
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
