//! Output files named on the command line: complete or not at all. Data goes to a file with an unpredictable name
//! beside the target, which is renamed when complete. Links are not written through, and a file that appears meanwhile
//! is overwritten only if requested.

use crate::state;
use anyhow::{Context as _, bail};
use fathom_engine::{EngineError, Ledger, interrupted_by};
use fathom_state::{here, trust};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Permissions before the umask, as for any new file.
const MODE: u32 = 0o666;

/// Writes a file; replaces an existing one only if `replace` is set.
pub fn put(path: &Path, contents: impl AsRef<[u8]>, replace: bool) -> anyhow::Result<()> {
    let mut whole = WholeFile::begin(path, replace)?;
    whole.file().write_all(contents.as_ref()).with_context(|| unwritten(path))?;
    whole.finish()
}

/// A file that gets its name when finished, and is removed if dropped before.
pub struct WholeFile<'p> {
    place: OutputTarget,
    path: &'p Path,
    replace: bool,
}

enum OutputTarget {
    Beside(Box<TemporaryFile>),
    /// A pipe or a device: nothing to replace, and its name must stay.
    Stream(File),
}

impl<'p> WholeFile<'p> {
    /// Will replace an existing file only if `replace` is set.
    pub fn begin(path: &'p Path, replace: bool) -> anyhow::Result<Self> {
        let found = path.symlink_metadata().map(|about| about.file_type()).ok();
        let place = match found.filter(|found| replace && !found.is_file()) {
            Some(found) if found.is_symlink() => {
                bail!("{} is a symbolic link; name the file that it leads to", path.display())
            }
            Some(_) => OutputTarget::Stream(open_stream(path).with_context(|| unwritten(path))?),
            None => OutputTarget::Beside(Box::new(TemporaryFile::of(path).with_context(|| unwritten(path))?)),
        };
        Ok(Self { place, path, replace })
    }

    pub fn file(&mut self) -> &mut File {
        match &mut self.place {
            OutputTarget::Beside(beside) => &mut beside.file,
            OutputTarget::Stream(file) => file,
        }
    }

    /// Gives it its name.
    pub fn finish(self) -> anyhow::Result<()> {
        let OutputTarget::Beside(mut beside) = self.place else { return Ok(()) };
        // A network file system may report a full disk only now.
        let done = beside.file.sync_all().and_then(|()| beside.take_the_name(self.path, self.replace));
        done.with_context(|| unwritten(self.path))
    }
}

fn unwritten(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// A file with an unpredictable name in the target's directory; removed unless renamed. The next run removes what a
/// killed one left.
struct TemporaryFile {
    file: File,
    path: PathBuf,
    /// Removes it on drop if it still has that name.
    _ledger: Ledger,
}

impl TemporaryFile {
    fn of(path: &Path) -> std::io::Result<Self> {
        let mut ledger = state::quiet_ledger();
        loop {
            let number = RandomState::new().hash_one(std::process::id());
            let beside = path.with_file_name(format!(".fathom-{number:016x}"));
            match ledger.create(&beside, MODE) {
                Ok(file) => return Ok(Self { file, path: beside, _ledger: ledger }),
                Err(EngineError::File { error, .. }) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(EngineError::File { error, .. }) => return Err(error),
                // The home directory is not writable: nothing is recorded for the next run.
                Err(EngineError::Journal { .. }) => ledger = Ledger::nowhere(),
                Err(e) => return Err(Error::other(e)),
            }
        }
    }

    fn take_the_name(&mut self, path: &Path, replace: bool) -> std::io::Result<()> {
        let (from, to) = (here(&self.path), here(path));
        if replace {
            std::fs::rename(from, to)?;
        } else {
            match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
                // The file system does not support the flag; it may support hard links.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    std::fs::hard_link(from, to)?;
                    std::fs::remove_file(from)?;
                }
                renamed => renamed?,
            }
        }
        // The directory's owner may have replaced it before the rename.
        let numbers = |about: std::fs::Metadata| (about.dev(), about.ino());
        if here(path).symlink_metadata().map(numbers)? != self.file.metadata().map(numbers)? {
            return Err(Error::other("something else lies there now"));
        }
        Ok(())
    }
}

/// Whether a symbolic link is controlled by this user or root.
pub fn is_our_link(path: &Path) -> bool {
    let is_ours = |uid: u32| uid == 0 || uid == trust::user();
    path.symlink_metadata().is_ok_and(|about| about.is_symlink() && is_ours(about.uid()))
        && trust::is_in_our_directory(path)
}

/// Opens a file that exists from the start and grows during a command. Overwrites an existing one only if `replace` is
/// set.
pub fn begin_now(path: &Path, replace: bool) -> std::io::Result<Patient> {
    if replace { open_now(path) } else { create(path).map(Patient) }
}

fn create(path: &Path) -> std::io::Result<File> {
    File::options().write(true).create_new(true).mode(MODE).open(path)
}

/// A file written during a command. A write to a pipe waits for its reader, but not after a signal asks for the end.
#[derive(Debug)]
pub struct Patient(File);

impl Patient {
    pub fn file(&self) -> &File {
        &self.0
    }

    /// Whether its name still leads to it. Pipes and devices leave nothing under a name.
    pub fn is_at(&self, path: &Path) -> bool {
        let numbers = |about: std::fs::Metadata| (about.dev(), about.ino());
        let Ok(ours) = self.0.metadata() else { return false };
        !ours.is_file() || path.metadata().is_ok_and(|there| numbers(there) == numbers(ours))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if interrupted_by().is_some() {
                        return Err(Error::other("a signal came before its reader had read it"));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Opens a file that is written during a command as other programs do: created if missing, else truncated. A link is
/// followed if this user or root made it (`/dev/stdout` is one) and owns its directory, since other users can move and
/// hard-link links.
pub fn open_now(path: &Path) -> std::io::Result<Patient> {
    let Ok(about) = path.symlink_metadata() else { return create(path).map(Patient) };
    if about.is_file() {
        let file =
            File::options().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(strange());
        }
        if about.nlink() > 1 && !trust::is_in_our_directory(path) {
            return Err(Error::other("it has a second name, and other users can change its directory"));
        }
        file.set_len(0)?;
        return Ok(Patient(file));
    }
    if !about.is_symlink() {
        return open_as_it_is(path, libc::O_NOFOLLOW).map(Patient);
    }
    if !is_our_link(path) {
        return Err(Error::other("it is a symbolic link that other users can change"));
    }
    match path.metadata() {
        Ok(about) if !about.is_file() => open_as_it_is(path, 0).map(Patient),
        // Its current target.
        _ => open_now(&path.canonicalize()?),
    }
}

/// Opens a pipe that has a reader, or a character device; writes wait for the reader.
fn open_stream(path: &Path) -> std::io::Result<File> {
    let file = open_as_it_is(path, libc::O_NOFOLLOW)?;
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::NONBLOCK)?;
    Ok(file)
}

/// The same without waiting.
fn open_as_it_is(path: &Path, flags: i32) -> std::io::Result<File> {
    let file = File::options().write(true).custom_flags(flags | libc::O_NONBLOCK).open(path);
    let file = file.map_err(|e| match e.raw_os_error() {
        Some(libc::ENXIO) => Error::other("it is a pipe without a reader"),
        _ => e,
    })?;
    let found = file.metadata()?.file_type();
    if !found.is_char_device() && !found.is_fifo() && !found.is_file() {
        return Err(strange());
    }
    Ok(file)
}

fn strange() -> Error {
    Error::other("it is neither a file, nor a pipe, nor a character device")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_testkit::TestDir;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_whole_or_not_there_and_links_are_not_followed() {
        let dir = TestDir::new();
        let at = |name: &str| dir.path().join(name);
        put(&at("new"), "one", false).expect("there was nothing");
        assert!(put(&at("new"), "two", false).is_err());
        assert_eq!(fs::read_to_string(at("new")).expect("there"), "one");
        put(&at("new"), "two", true).expect("asked for");
        assert_eq!(fs::read_to_string(at("new")).expect("there"), "two");
        symlink(at("new"), at("link")).expect("a link");
        symlink(at("nothing"), at("dangling")).expect("a link");
        for link in ["link", "dangling"] {
            for replace in [false, true] {
                assert!(put(&at(link), "three", replace).is_err());
            }
        }
        assert_eq!(fs::read_to_string(at("new")).expect("there"), "two");
        assert_eq!(dir.names(), ["dangling", "link", "new"], "nothing lies beside");
        let error = put(&at("no/such/file"), "x", false).expect_err("no directory");
        assert_eq!(
            format!("{error:#}"),
            format!("cannot write {}: No such file or directory (os error 2)", at("no/such/file").display())
        );
    }

    #[test]
    fn what_is_written_at_once_follows_links_of_ours_only() {
        let dir = TestDir::new();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "old").expect("a file");
        symlink("file", at("link")).expect("a link");
        open_now(&at("link")).expect("ours").write_all(b"new").expect("written");
        assert_eq!(fs::read_to_string(at("file")).expect("there"), "new");
        open_now(&at("fresh")).expect("made");
        symlink("/dev/null", at("null")).expect("a link");
        open_now(&at("null")).expect("our link to a device").write_all(b"x").expect("written");
        assert!(open_now(dir.path()).is_err());
        if trust::user() == 0 {
            std::os::unix::fs::lchown(at("link"), Some(65534), None).expect("root may");
            assert!(
                open_now(&at("link"))
                    .expect_err("theirs")
                    .to_string()
                    .contains("that other users can change")
            );
            assert_eq!(fs::read_to_string(at("file")).expect("there"), "new");
        }
    }

    #[test]
    fn what_is_a_stream_stays_one() {
        put(Path::new("/dev/null"), "x", true).expect("it takes anything");
        let found = fs::symlink_metadata("/dev/null").expect("there").file_type();
        assert!(found.is_char_device());
        assert!(put(Path::new("/dev/full"), "x", true).is_err());
        let dir = TestDir::new();
        assert!(put(dir.path(), "x", true).is_err() && dir.path().is_dir());
        let pipe = dir.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo").arg(&pipe).status().expect("coreutils has it").success()
        );
        for error in [
            format!("{:#}", put(&pipe, "x", true).expect_err("a pipe")),
            open_now(&pipe).expect_err("a pipe").to_string(),
        ] {
            assert!(error.contains("a pipe without a reader"), "{error}");
        }
    }
}
