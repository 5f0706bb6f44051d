//! Filebench: reads its Workload Model Language into the workload model, and prints its output. A script is read completely before
//! anything runs: text, tokens, tree; the plan is made from the tree alone.

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
