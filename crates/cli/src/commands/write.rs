//! Writing runs in the form that a file's ending names.

use crate::exit::Usage;
use anyhow::Context as _;
use fathom_record::Run;
use std::path::Path;

/// The endings, for messages.
const ENDINGS: &str = ".html, .xlsx, .md, .svg, .json, .csv";

/// Writes the runs to `path`. An existing file is overwritten only if `replace` says so.
pub fn runs(runs: &[&Run], path: &Path, replace: bool) -> anyhow::Result<()> {
    let form = Form::of(path)?;
    if !replace {
        must_not_exist(path, FORCE)?;
    }
    let text = match form {
        Form::Html => fathom_report::html::page(runs),
        Form::Markdown => fathom_report::markdown::summary(runs),
        Form::Json => runs.iter().map(|r| fathom_record::export::json(r)).collect(),
        Form::Csv => fathom_record::export::csv(&runs.iter().map(|r| (*r).clone()).collect::<Vec<_>>()),
        Form::Svg => return pictures(runs, path, replace),
        Form::Xlsx => {
            return fathom_report::xlsx::write(runs, path)
                .with_context(|| format!("cannot write {}", path.display()));
        }
    };
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// One picture goes to the file itself; several to files numbered before the ending.
fn pictures(runs: &[&Run], path: &Path, replace: bool) -> anyhow::Result<()> {
    let pictures: Vec<_> = runs.iter().flat_map(|r| fathom_report::svg::of_run(r)).collect();
    if pictures.is_empty() {
        return Err(Usage("these runs hold nothing that could be drawn".into()).into());
    }
    for (i, picture) in pictures.iter().enumerate() {
        let name =
            if pictures.len() == 1 { path.to_owned() } else { path.with_extension(format!("{}.svg", i + 1)) };
        if !replace {
            must_not_exist(&name, FORCE)?;
        }
        std::fs::write(&name, picture.standalone())
            .with_context(|| format!("cannot write {}", name.display()))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Form {
    Html,
    Xlsx,
    Markdown,
    Svg,
    Json,
    Csv,
}

impl Form {
    fn of(path: &Path) -> Result<Self, Usage> {
        Ok(match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Self::Html,
            Some("xlsx") => Self::Xlsx,
            Some("md") => Self::Markdown,
            Some("svg") => Self::Svg,
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            _ => {
                return Err(Usage(format!(
                    "{}: the ending says what is written; it is one of {ENDINGS}",
                    path.display()
                )));
            }
        })
    }
}

/// Checks the ending of a file.
pub fn check_ending(path: &Path) -> Result<(), Usage> {
    Form::of(path).map(|_| ())
}

/// Checks a file that will be written when the measurement is over, before anything is measured: it has a known ending and takes
/// no other file's place.
pub fn check_before(path: &Path) -> Result<(), Usage> {
    check_ending(path)?;
    must_not_exist(path, "choose another name or remove it first")
}

/// What to do about an existing file where there is an option for it.
const FORCE: &str = "--force overwrites it";

fn must_not_exist(path: &Path, advice: &str) -> Result<(), Usage> {
    if path.symlink_metadata().is_ok() {
        return Err(Usage(format!("{} exists; {advice}", path.display())));
    }
    Ok(())
}
