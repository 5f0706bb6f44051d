//! A reproduced table as a page (`--output`): what the pages of all tables share.

use super::Reproduce;
use crate::commands::write;
use crate::console;
use crate::exit::Usage;
use fathom_report::html::reproduction_page;
use fathom_report::reproduced::{self, Reproduced, WordTable};
use fathom_sim::reproduce::Check;
use std::path::Path;

/// Rejects a wrong extension before anything is simulated.
pub(super) fn check(output: &Path) -> Result<(), Usage> {
    if !matches!(output.extension().and_then(|e| e.to_str()), Some("html" | "htm")) {
        return Err(Usage(format!("{}: a reproduced table is written as .html", output.display())));
    }
    write::check(output, false)
}

/// Writes the page if requested.
pub(super) fn write(options: &Reproduce, drawn: impl FnOnce() -> Reproduced) -> anyhow::Result<()> {
    let Some(output) = &options.output else { return Ok(()) };
    crate::output::put(output, reproduction_page(&drawn()), false)?;
    console::note(&format!("wrote {}", output.display()));
    Ok(())
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
