//! The syntax tree of a Workload Model Language script, as written: attributes in order, variables unresolved, words of every
//! version. The parser creates it, the printer writes it back, and the planner interprets it, which may depend on the version;
//! the tree itself does not.

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
    /// Commands in execution order.
    pub commands: Vec<Spanned<Command>>,
}
