//! A script of the Workload Model Language as a tree, as it was written: attributes in their order, variables not looked up, words
//! of every version side by side. The parser makes it, the printer writes it back, and the resolver gives it a meaning, which may
//! differ between versions; nothing here does.

mod attribute;
mod command;
mod older;
mod value;

pub use attribute::{Attribute, Attributes, Local, canonical_name};
pub use command::{Command, Composite, Created, FlowopUse, Listed, Process, QuitMode, Stats, Thread};
pub use value::{
    INTEGER_MAX, Number, Operator, Piece, TableRow, Text, Value, Variable, VariableForm, integer,
};

use super::span::Spanned;

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its commands, in the order in which they are carried out.
    pub commands: Vec<Spanned<Command>>,
}
