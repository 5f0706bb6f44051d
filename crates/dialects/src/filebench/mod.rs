//! Filebench: its Workload Model Language in, the model out; and its output. The language is read completely before anything runs:
//! text, tokens, tree here; what the tree means is worked out from the tree alone.

pub mod ast;
mod span;

pub use ast::{Command, Script};
pub use span::{Span, Spanned};
