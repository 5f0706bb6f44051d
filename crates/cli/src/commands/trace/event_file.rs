//! An event file that a command makes from others: complete or not at all, compressed if its name says so.

use crate::commands::write;
use crate::output::WholeFile;
use anyhow::Context as _;
use fathom_record::block::log::LogFile;
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

pub struct EventFile<'p> {
    whole: WholeFile<'p>,
    path: &'p Path,
    out: Out,
}

/// Shared by the event writer and the code that finishes the file.
#[derive(Clone)]
struct Out(Rc<RefCell<BufWriter<LogFile>>>);

impl<'p> EventFile<'p> {
    /// Replaces an existing file only if `replace` is set.
    pub fn begin(path: &'p Path, replace: bool) -> anyhow::Result<Self> {
        write::check(path, replace)?;
        let mut whole = WholeFile::begin(path, replace)?;
        let file = whole.file().try_clone().and_then(|file| LogFile::new(file, path));
        let out = Rc::new(RefCell::new(BufWriter::new(file.with_context(|| cannot_write(path))?)));
        Ok(Self { whole, path, out: Out(out) })
    }

    /// The writer; must be dropped before `finish`.
    pub fn writer(&self) -> Box<dyn Write> {
        Box::new(self.out.clone())
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> anyhow::Result<()> {
        let out = Rc::into_inner(self.out.0).context("a file of events is still being written")?.into_inner();
        let ended = out.into_inner().map_err(io::IntoInnerError::into_error).and_then(LogFile::end);
        ended.with_context(|| cannot_write(self.path))?;
        self.whole.finish()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

pub fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
