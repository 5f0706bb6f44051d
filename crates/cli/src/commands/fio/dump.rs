//! `verify_dump`: writes the first wrong block to its own file for inspection. Never replaces an existing file.

use crate::console;
use fathom_dialects::fio::output::verify::Dump;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Writes the data read, and the expected data if known.
pub fn write(dump: &Dump) {
    match there(dump) {
        Ok(bytes) => keep(&dump.received, &bytes, "received"),
        Err(error) => console::error(&format!("{} cannot be read: {error}", dump.file.display())),
    }
    match &dump.expected {
        Some((path, bytes)) => keep(path, bytes, "expected"),
        None => console::note(
            "verify_dump: of random bytes only the sum is known, so what was expected is not written",
        ),
    }
}

fn there(dump: &Dump) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(&dump.file)?;
    file.seek(SeekFrom::Start(dump.offset))?;
    let mut bytes = Vec::new();
    file.take(dump.bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn keep(path: &Path, bytes: &[u8], what: &str) {
    // The data may come from a file that others must not read.
    let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match new.and_then(|mut file| file.write_all(bytes)) {
        Ok(()) => console::error_raw(&format!("       {what} data dumped as {}\n", path.display())),
        Err(error) => console::error(&format!("{} cannot be written: {error}", path.display())),
    }
}
