//! The native format: a workload as TOML text. Field names and nesting are those of the model; docs/formats/workload.md explains
//! them with examples that a test reads.

use crate::{Diagnostic, Workload};

impl Workload {
    /// Writes the workload in the native format.
    ///
    /// # Errors
    /// If a path is not UTF-8: TOML cannot represent it. (Integers keep their 64 bits: those above 2^63 - 1 are written as they are,
    /// which this crate reads back and some other TOML readers refuse.)
    pub fn to_toml(&self) -> Result<String, Diagnostic> {
        toml::to_string_pretty(self).map_err(|e| Diagnostic {
            span: None,
            message: e.to_string(),
            help: None,
        })
    }

    /// Reads the native format. Syntax and shape errors carry their location in the text; [`Workload::check`] validates the meaning.
    ///
    /// # Errors
    /// The first error in the text, with its location.
    pub fn from_toml(text: &str) -> Result<Self, Diagnostic> {
        toml::from_str(text).map_err(|e: toml::de::Error| Diagnostic {
            span: e.span(),
            message: e.message().trim_end().to_owned(),
            help: Some("the native format is described in docs/formats/workload.md".into()),
        })
    }
}
