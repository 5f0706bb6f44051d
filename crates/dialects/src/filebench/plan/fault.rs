//! What planning finds wrong, before it is tied to a file's text: a place, a sentence, and what to do.

use crate::filebench::Span;

/// Something that keeps the script from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Where, in the text of the command that is being worked on.
    pub span: Span,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// What most steps of planning return.
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
