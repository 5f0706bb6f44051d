//! Filebench: its Workload Model Language in, the model out; and its output. The language is read completely before anything runs:
//! text, tokens, tree here; what the tree means is worked out from the tree alone.

pub mod ast;
mod diagnostic;
mod lexer;
pub mod output;
mod parser;
pub mod plan;
mod printer;
mod span;
mod suggest;
mod token;

pub use ast::{Command, Script};
pub use diagnostic::{Diagnostic, Severity};
pub use parser::{Parsed, parse};
pub use printer::print;
pub use span::{Span, Spanned};
pub use suggest::nearest;
