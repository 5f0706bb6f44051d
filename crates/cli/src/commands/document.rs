//! Writes a document in the format of a file's extension.

use super::write;
use crate::exit::Usage;
use crate::output;
use fathom_report::document::Document;
use fathom_report::{html, markdown, svg, xlsx};
use std::path::{Path, PathBuf};

/// The extensions, for messages.
const ENDINGS: &str = ".html .md .xlsx .svg, or DIR/ for all pictures";

#[derive(Clone, Copy)]
enum DocumentFormat {
    Html,
    Markdown,
    Xlsx,
    Svg,
    Pictures,
}

impl DocumentFormat {
    fn of(path: &Path) -> Option<Self> {
        if write::is_directory(path) {
            return Some(Self::Pictures);
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(Self::Html),
            "md" => Some(Self::Markdown),
            "xlsx" => Some(Self::Xlsx),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }
}

/// Checks the extension; `what` is written ("a sweep"), and `elsewhere` says where other formats are.
pub fn check_ending(path: &Path, what: &str, elsewhere: &str) -> Result<(), Usage> {
    match DocumentFormat::of(path) {
        Some(_) => Ok(()),
        None => Err(Usage(format!("{}: {what} is written as {ENDINGS}; {elsewhere}", path.display()))),
    }
}

/// Whether a path names one picture.
pub fn is_picture(path: &Path) -> bool {
    matches!(DocumentFormat::of(path), Some(DocumentFormat::Svg))
}

/// Writes it and lists the files. Overwrites an existing one only if `replace` is set.
pub fn write(document: &Document, path: &Path, replace: bool) -> anyhow::Result<()> {
    let put = |contents: &[u8]| output::put(path, contents, replace).map(|()| vec![path.to_owned()]);
    let files: Vec<PathBuf> = match DocumentFormat::of(path) {
        Some(DocumentFormat::Html) => put(html::document(document).as_bytes())?,
        Some(DocumentFormat::Markdown) => put(markdown::document(document).as_bytes())?,
        Some(DocumentFormat::Xlsx) => put(&xlsx::document(document)?)?,
        Some(DocumentFormat::Svg) => {
            write::picture(svg::stacked(&document.title, document.pictures()), path, replace)?
        }
        Some(DocumentFormat::Pictures) => write::pictures_into(&document.pictures(), path, replace)?,
        None => return Err(Usage(format!("{}: one of {ENDINGS} is expected", path.display())).into()),
    };
    write::tell(&files);
    Ok(())
}
