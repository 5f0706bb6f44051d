//! A reproduced table as a report (`--output`): what those of all tables share.

use super::Reproduce;
use crate::commands::{document, write};
use crate::exit::Usage;
use fathom_report::documents;
use fathom_report::reproduced::{self, Reproduced, WordTable};
use fathom_sim::reproduce::Check;
use std::path::Path;

/// Rejects a wrong extension before anything is simulated.
pub(super) fn check(output: &Path) -> Result<(), Usage> {
    document::check_ending(output, "a reproduced table", "--json prints the figures")?;
    write::check_drawing(output, false)
}

/// Writes the report if requested.
pub(super) fn write(options: &Reproduce, drawn: impl FnOnce() -> Reproduced) -> anyhow::Result<()> {
    match &options.output {
        Some(output) => document::write(&documents::reproduction(&drawn()), output, false),
        None => Ok(()),
    }
}

/// The tolerances stated in advance.
pub(super) fn checks(all: &[Check]) -> Vec<reproduced::Check> {
    let check =
        |c: &Check| reproduced::Check { holds: c.holds, stated: c.stated.clone(), found: c.found.clone() };
    all.iter().map(check).collect()
}

/// The origins of the profiles' values.
pub(super) fn sources([datasheet, measured, fitted, guessed]: [u32; 4]) -> String {
    format!(
        "Values of the profiles: {datasheet} from data sheets and sources, {measured} measured, {fitted} fitted, {guessed} guessed."
    )
}

pub(super) fn grid(caption: &str, heads: &[&str], rows: Vec<(String, Vec<String>)>) -> WordTable {
    WordTable { caption: caption.into(), heads: heads.iter().map(|h| (*h).to_string()).collect(), rows }
}

pub(super) fn percent(error: f64) -> String {
    format!("{error:+.1} %")
}
