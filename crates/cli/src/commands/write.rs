//! Writing runs in the form that a file's ending names.

use crate::exit::Usage;
use crate::output;
use fathom_record::Run;
use fathom_report::svg::Picture;
use std::path::{Path, PathBuf};

/// The endings, for messages.
const ENDINGS: &str = ".html, .xlsx, .md, .svg, .json, .csv, .parquet, .prom";

/// Writes the runs to `path` and gives the names of the files written. An existing file is overwritten only if `replace` says so.
pub fn runs(runs: &[&Run], path: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    let form = Form::of(path)?;
    must_be_free(path, replace)?;
    let owned = || runs.iter().map(|r| (*r).clone()).collect::<Vec<_>>();
    let text = match form {
        Form::Html => fathom_report::html::page(runs),
        Form::Markdown => fathom_report::markdown::summary(runs),
        Form::Json => runs.iter().map(|r| fathom_record::export::json(r)).collect(),
        Form::Csv => fathom_record::export::csv(&owned()),
        Form::Parquet => return put_one(path, fathom_report::parquet::bytes(runs)?, replace),
        Form::Prometheus => fathom_record::export::prometheus(&owned()),
        Form::Svg => return pictures(runs, path, replace),
        Form::Xlsx => return put_one(path, fathom_report::xlsx::bytes(runs)?, replace),
    };
    put_one(path, text, replace)
}

fn put_one(path: &Path, contents: impl AsRef<[u8]>, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    output::put(path, contents, replace)?;
    Ok(vec![path.to_owned()])
}

/// Says what was written.
pub fn tell(files: &[PathBuf]) {
    match files {
        [] => {}
        [only] => crate::console::note(&format!("wrote {}", only.display())),
        [first, .., last] => {
            crate::console::note(&format!(
                "wrote {} files, {} to {}",
                files.len(),
                first.display(),
                last.display()
            ));
        }
    }
}

/// One picture goes to the file itself; several to files named after what they show: out.svg becomes out.heat-map-read.svg, with
/// the number of the run before it where there are several runs.
fn pictures(runs: &[&Run], path: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut pictures = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let number = if runs.len() > 1 { format!("{}-", i + 1) } else { String::new() };
        for picture in fathom_report::svg::of_run(run) {
            pictures.push((path.with_extension(format!("{number}{}.svg", picture.slug)), picture));
        }
    }
    if let [only] = &mut pictures[..] {
        only.0 = path.to_owned();
    }
    if pictures.is_empty() {
        return Err(Usage("these runs hold nothing that could be drawn".into()).into());
    }
    put(pictures, replace)
}

/// The same of pictures that are there: one goes to the file itself, several to files named after what they show.
pub fn pictures_to(pictures: Vec<Picture>, path: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    let several = pictures.len() > 1;
    let name =
        |p: &Picture| if several { path.with_extension(format!("{}.svg", p.slug)) } else { path.to_owned() };
    let pictures: Vec<(PathBuf, Picture)> = pictures.into_iter().map(|p| (name(&p), p)).collect();
    if pictures.is_empty() {
        return Err(Usage("there are too few runs for a picture".into()).into());
    }
    put(pictures, replace)
}

fn put(pictures: Vec<(PathBuf, Picture)>, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    for (name, _) in pictures.iter().filter(|_| !replace) {
        must_not_exist(name, FORCE)?;
    }
    for (name, picture) in &pictures {
        output::put(name, picture.standalone(), replace)?;
    }
    Ok(pictures.into_iter().map(|p| p.0).collect())
}

#[derive(Clone, Copy)]
enum Form {
    Html,
    Xlsx,
    Markdown,
    Svg,
    Json,
    Csv,
    Parquet,
    Prometheus,
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
            Some("parquet") => Self::Parquet,
            Some("prom") => Self::Prometheus,
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

/// Checks a file that will be written when the measurement is over, before anything is measured: it has a known ending, a
/// directory to be in, and takes no other file's place.
pub fn check_before(path: &Path) -> Result<(), Usage> {
    check_ending(path)?;
    must_not_exist(path, "choose another name or remove it first")?;
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.is_dir() {
        return Ok(());
    }
    Err(Usage(format!("{} cannot be written: there is no directory {}", path.display(), parent.display())))
}

/// Checks a file that a command with --force will write.
pub fn must_be_free(path: &Path, replace: bool) -> Result<(), Usage> {
    if replace { Ok(()) } else { must_not_exist(path, FORCE) }
}

/// What to do about an existing file where there is an option for it.
const FORCE: &str = "--force overwrites it";

fn must_not_exist(path: &Path, advice: &str) -> Result<(), Usage> {
    if path.symlink_metadata().is_ok() {
        return Err(Usage(format!("{} exists; {advice}", path.display())));
    }
    Ok(())
}
