//! Writes runs in the format of a file's extension.

use crate::exit::Usage;
use crate::output;
use anyhow::Context as _;
use fathom_record::Run;
use fathom_report::svg::Picture;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The extensions, for messages.
const ENDINGS: &str = ".html, .xlsx, .md, .svg, .json, .csv, .parquet, .prom, .folded, .perfetto.json";

/// Writes the runs to `path` and returns the files written. Overwrites an existing file only if `replace` is set.
pub fn runs(runs: &[&Run], path: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    let form = OutputFormat::of(path)?;
    check_drawing(path, replace)?;
    let owned = || runs.iter().map(|r| (*r).clone()).collect::<Vec<_>>();
    let text = match form {
        OutputFormat::Html => fathom_report::html::page(runs),
        OutputFormat::Markdown => fathom_report::markdown::ticket(runs),
        OutputFormat::Json => runs.iter().map(|r| fathom_record::export::json(r)).collect(),
        OutputFormat::Csv => fathom_record::export::csv(&owned()),
        OutputFormat::Parquet => return put_one(path, fathom_report::parquet::bytes(runs)?, replace),
        OutputFormat::Prometheus => fathom_record::export::prometheus(&owned()),
        OutputFormat::Folded => fathom_report::stacks::folded(runs).ok_or_else(|| Usage(NO_STACKS.into()))?,
        OutputFormat::Perfetto => {
            fathom_report::stacks::perfetto(runs).ok_or_else(|| Usage(NO_STACKS.into()))?
        }
        OutputFormat::Svg => return picture(fathom_report::svg::answer(runs), path, replace),
        OutputFormat::Pictures => return pictures_into(&all_pictures(runs), path, replace),
        OutputFormat::Xlsx => return put_one(path, fathom_report::xlsx::bytes(runs)?, replace),
    };
    put_one(path, text, replace)
}

/// Writes the full Markdown of the runs; [`runs`] writes only what fits a ticket.
pub fn full_markdown(runs: &[&Run], path: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    check(path, replace)?;
    put_one(path, fathom_report::markdown::summary(runs), replace)
}

pub fn is_markdown(path: &Path) -> bool {
    OutputFormat::of(path).is_ok_and(|form| matches!(form, OutputFormat::Markdown))
}

fn put_one(path: &Path, contents: impl AsRef<[u8]>, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    output::put(path, contents, replace)?;
    Ok(vec![path.to_owned()])
}

/// Lists the written files.
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

/// All pictures of the runs, numbered by run if there are several.
fn all_pictures(runs: &[&Run]) -> Vec<Picture> {
    let mut pictures = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        for mut picture in fathom_report::svg::of_run(run) {
            if runs.len() > 1 {
                picture.slug = format!("{}-{}", i + 1, picture.slug);
            }
            pictures.push(picture);
        }
    }
    pictures
}

/// Writes one picture.
pub fn picture(picture: Option<Picture>, path: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    let picture = picture.ok_or_else(|| Usage(NOTHING.into()))?;
    put_one(path, picture.standalone(), replace)
}

/// Writes pictures to a directory, each named after its content. Creates the directory if missing.
pub fn pictures_into(pictures: &[Picture], directory: &Path, replace: bool) -> anyhow::Result<Vec<PathBuf>> {
    if pictures.is_empty() {
        return Err(Usage(NOTHING.into()).into());
    }
    let files: Vec<PathBuf> = pictures.iter().map(|p| directory.join(format!("{}.svg", p.slug))).collect();
    files.iter().try_for_each(|file| must_be_free(file, replace))?;
    if !directory.is_dir() {
        std::fs::create_dir(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    }
    for (file, picture) in files.iter().zip(pictures) {
        output::put(file, picture.standalone(), replace)?;
    }
    Ok(files)
}

const NOTHING: &str = "there are too few figures to draw a picture";

const NO_STACKS: &str = "there are no kernel stacks of slow calls: they are noted with --observe full, as root, of phases with at least 100 calls of a kind";

/// Whether a path names a directory: an existing one, or with a trailing slash.
pub fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

#[derive(Clone, Copy)]
enum OutputFormat {
    Html,
    Xlsx,
    Markdown,
    Svg,
    /// A directory of pictures.
    Pictures,
    Json,
    Csv,
    Parquet,
    Prometheus,
    /// Kernel stacks of the slowest calls, for flame graphs.
    Folded,
    /// The slowest calls in time.
    Perfetto,
}

impl OutputFormat {
    fn of(path: &Path) -> Result<Self, Usage> {
        if is_directory(path) {
            return Ok(Self::Pictures);
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.to_ascii_lowercase().ends_with(".perfetto.json") {
            return Ok(Self::Perfetto);
        }
        Ok(match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => Self::Html,
            Some("xlsx") => Self::Xlsx,
            Some("md") => Self::Markdown,
            Some("svg") => Self::Svg,
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            Some("parquet") => Self::Parquet,
            Some("prom") => Self::Prometheus,
            Some("folded") => Self::Folded,
            _ => {
                return Err(Usage(format!(
                    "{}: the file's ending is not known; use one of {ENDINGS}, or DIR/ for all pictures",
                    path.display()
                )));
            }
        })
    }
}

/// The page of a run whose file the user does not name.
pub fn default_page(id: &str) -> PathBuf {
    PathBuf::from(format!("fathom-{id}.html"))
}

/// Checks the extension of a file.
pub fn check_ending(path: &Path) -> Result<(), Usage> {
    OutputFormat::of(path).map(|_| ())
}

/// Checks before the measurement a file that will be written after it: known extension, writable directory, and no
/// existing file.
pub fn check_before(path: &Path) -> Result<(), Usage> {
    check_ending(path)?;
    check_new(path)
}

/// The same for a file whose extension was checked: writable directory, and no existing file.
pub fn check_new(path: &Path) -> Result<(), Usage> {
    if is_directory(path) {
        has_no_pictures(path)?;
    } else {
        must_not_exist(path, "choose another name or remove it first")?;
    }
    can_be_made(path)
}

/// Checks a directory before a measurement: pictures are named after their contents, which are not known yet.
pub fn has_no_pictures(directory: &Path) -> Result<(), Usage> {
    let mut files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_picture = |file: std::fs::DirEntry| file.path().extension().is_some_and(|ending| ending == "svg");
    if files.any(is_picture) {
        let directory = directory.display();
        return Err(Usage(format!(
            "{directory} already has pictures (.svg); name a new or an empty directory"
        )));
    }
    Ok(())
}

/// Checks a file that a command with --force will write: absent or replaceable, in a writable directory.
pub fn check(path: &Path, replace: bool) -> Result<(), Usage> {
    if path.is_dir() {
        return Err(Usage(format!("{} is a directory; name a file", path.display())));
    }
    must_be_free(path, replace)?;
    can_be_made(path)
}

/// Checks a file that a command writes by default; `advice` says what to do if it cannot.
pub fn check_default(path: &Path, advice: &str) -> Result<(), Usage> {
    can_be_made(&fathom_state::absolute(path)).map_err(|Usage(why)| Usage(format!("{why}; {advice}")))
}

/// The same, where a directory gets all pictures.
pub fn check_drawing(path: &Path, replace: bool) -> Result<(), Usage> {
    if is_directory(path) { can_be_made(path) } else { check(path, replace) }
}

/// Checks that its directory is writable. Pipes and devices are written directly.
fn can_be_made(path: &Path) -> Result<(), Usage> {
    if path.symlink_metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Ok(());
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = if path.is_dir() { path } else { parent };
    let why = match directory.metadata() {
        Ok(about) if about.is_dir() => match access(directory, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(Errno::ROFS) => format!("the file system of {} is read-only", directory.display()),
            Err(_) => format!("you may not write in {}", directory.display()),
        },
        _ => format!("there is no directory {}", directory.display()),
    };
    Err(Usage(format!("{} cannot be written: {why}", path.display())))
}

fn must_be_free(path: &Path, replace: bool) -> Result<(), Usage> {
    if replace { Ok(()) } else { must_not_exist(path, "--force overwrites it") }
}

fn must_not_exist(path: &Path, advice: &str) -> Result<(), Usage> {
    if path.symlink_metadata().is_ok() {
        return Err(Usage(format!("{} exists; {advice}", path.display())));
    }
    Ok(())
}
