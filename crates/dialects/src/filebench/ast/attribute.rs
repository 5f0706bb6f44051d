//! Attribute lists: comma-separated `name=value`, kept as written. Synonyms and "the last one wins" are handled here because every reader
//! needs them; the parser checks which attributes are valid where, and the planner interprets them.

use super::{Value, Variable};
use crate::filebench::span::{Span, Spanned};

/// `name=value`, or `name` alone.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name as written: `filesetname` stays `filesetname`.
    pub name: String,
    /// Position of the name.
    pub name_span: Span,
    /// The value; `None` means true.
    pub value: Option<Spanned<Value>>,
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

impl Eq for Attribute {}

impl Attribute {
    /// An attribute without a position, not parsed from a script.
    #[must_use]
    pub fn new(name: impl Into<String>, value: Option<Value>) -> Self {
        Self { name: name.into(), name_span: Span::default(), value: value.map(Spanned::from) }
    }

    /// The name with synonyms folded: `filesetname` for `filename`, `size` for `filesize`.
    #[must_use]
    pub fn canonical_name(&self) -> &str {
        canonical_name(&self.name)
    }

    /// Position of the whole attribute.
    #[must_use]
    pub fn span(&self) -> Span {
        self.value.as_ref().map_or(self.name_span, |value| self.name_span.to(value.span))
    }
}

/// The canonical name of attributes with synonyms.
#[must_use]
pub fn canonical_name(name: &str) -> &str {
    match name {
        "filename" => "filesetname",
        "filesize" => "size",
        other => other,
    }
}

/// A list of attributes, in the order written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(pub Vec<Attribute>);

impl Attributes {
    /// The effective attribute: the last of that name or its synonym.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<&Attribute> {
        let name = canonical_name(name);
        self.0.iter().rev().find(|attribute| attribute.canonical_name() == name)
    }

    /// The effective value; `None` also for an attribute without one.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Spanned<Value>> {
        self.last(name)?.value.as_ref()
    }

    /// In the order written.
    pub fn iter(&self) -> std::slice::Iter<'_, Attribute> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Attributes {
    type Item = &'a Attribute;
    type IntoIter = std::slice::Iter<'a, Attribute>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A variable of a composite: declared in its definition (`$files`, `$n=5`), set in its use (`$files=bigset`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Name of the variable.
    pub variable: Spanned<Variable>,
    /// Default or assigned value.
    pub value: Option<Spanned<Value>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_attribute_wins_under_either_name() {
        let attributes = Attributes(vec![
            Attribute::new("filename", Some(Value::Word("one".into()))),
            Attribute::new("random", None),
            Attribute::new("filesetname", Some(Value::Word("two".into()))),
        ]);
        assert_eq!(attributes.value("filename").and_then(|v| v.node.text()), Some("two"));
        assert!(attributes.last("random").is_some() && attributes.value("random").is_none());
        assert!(attributes.last("iosize").is_none());
    }
}
