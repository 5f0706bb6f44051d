//! `fathom iso`: lists, reads, checks and extracts ISO 9660 images without mounting them. This file opens the image and
//! dispatches; crate isofs reads it.

pub mod backend;
mod check;
mod compare;
mod extract;
pub mod options;
pub mod reading;
mod session;
mod show;
pub mod source;
mod transfer;

use crate::console;
use crate::exit::Usage;
use crate::input;
use anyhow::Context as _;
use backend::ImageFile;
use fathom_isofs::reader::{Policy, Reader};
use fathom_isofs::{Error, FileSource, Image, Node, Options, Session};
use options::{Iso, IsoCommand};
use reading::{ImageReading, medium_of};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use source::ImageSource;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub type Opened = Image<ImageFile>;

pub fn run(options: &Iso) -> anyhow::Result<ExitCode> {
    match &options.what {
        IsoCommand::Ls(o) => show::list(o),
        IsoCommand::Stat(o) => show::stat(o),
        IsoCommand::Cat(o) => show::cat(o),
        IsoCommand::Check(o) => check::run(o),
        IsoCommand::Extract(o) => extract::run(o),
        IsoCommand::Compare(o) => compare::run(o),
    }
}

/// Opens an image as its options say. A file that is no image, or lacks what was requested, is a usage error.
pub fn open(source: &ImageSource) -> anyhow::Result<Opened> {
    open_under(source, &Policy::modern_on(medium_of(&source.image)))
}

/// The policy of the options, adapted to back-end and device. An explicit queue depth or request limit is kept.
pub fn policy_of(source: &ImageSource, reading: &ImageReading) -> Result<Policy, Usage> {
    let mut wished = reading.wished(&source.image)?;
    if reading.max_transfer.is_none() {
        wished.max_transfer = transfer::held(&source.image, wished.max_transfer);
    }
    Ok(match reading.depth {
        Some(_) => wished,
        None => source.backend.held(wished, medium_of(&source.image)),
    })
}

/// The same with a back-end that suits a policy.
pub fn open_under(source: &ImageSource, policy: &Policy) -> anyhow::Result<Opened> {
    let options = |session| Options {
        session,
        namespace: source.namespace.map(Into::into),
        strict: source.strict,
        associated: source.associated,
        boot: source.boot,
        zisofs_by_magic: source.zisofs_by_magic,
        ..Options::default()
    };
    let asked = source.session.map(|which| which.0);
    let chosen = asked.unwrap_or_else(|| session::of(&source.image));
    let mut image = Image::open(file_of(source, policy)?, &options(chosen));
    // The last session of a disc may be empty or of another kind.
    if asked.is_none() && chosen != Session::First && matches!(image, Err(Error::Volume { .. })) {
        image = Image::open(file_of(source, policy)?, &options(Session::First));
    }
    let name = source.image.display();
    image.map_err(|error| match error {
        Error::Volume { .. } | Error::Strict(_) => Usage(format!("{name}: {error}")).into(),
        other => anyhow::Error::new(other).context(name.to_string()),
    })
}

fn file_of(source: &ImageSource, policy: &Policy) -> anyhow::Result<ImageFile> {
    let name = source.image.display();
    let file = input::open(&source.image).and_then(|file| {
        if source.direct {
            fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::DIRECT)?;
        }
        Ok(file)
    });
    let file = file.map_err(|e| Usage(format!("{name}: cannot be opened: {e}")))?;
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        return Err(Usage(format!("{name} is a directory; an image must be a file or a block device")).into());
    }
    let file = FileSource::new(file)
        .map_err(|e| Usage(format!("{name}: {e}; an image must be a file or a block device")))?;
    Ok(source.backend.of(file, policy)?)
}

fn reader(image: Opened, policy: &Policy) -> anyhow::Result<Reader<ImageFile>> {
    Reader::new(Arc::new(image), policy).map_err(|e| Usage(e.to_string()).into())
}

/// Reports the requests to the device.
fn tell_counters(reader: &Reader<ImageFile>, policy: &Policy) -> anyhow::Result<()> {
    let counted = reading::report(policy, &reader.counters(), reader.image().source().report());
    console::error_raw(&(serde_json::to_string_pretty(&counted)? + "\n"));
    Ok(())
}

fn find(image: &Opened, source: &ImageSource, path: &Path) -> anyhow::Result<Node> {
    let found = image
        .resolve(path.as_os_str().as_bytes())
        .with_context(|| format!("{}: {}", source.image.display(), path.display()))?;
    found.ok_or_else(|| {
        Usage(format!(
            "{}: there is no {}; `fathom iso ls` lists what there is, and links are not followed",
            source.image.display(),
            path.display()
        ))
        .into()
    })
}

/// A printable name: bytes that are not printable UTF-8 appear as \xNN, since an image may hold anything.
fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_text_reaches_the_terminal() {
        assert_eq!(shown("größe".as_bytes()), "größe");
        assert_eq!(shown(b"a\x1b[2Jb\xff"), "a\\u{1b}[2Jb\\xff");
    }
}
