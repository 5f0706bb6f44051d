//! An image as a part of the file tree, over FUSE: read-only, nosuid and nodev always. The kernel keeps what it was told for as long as the
//! mount lasts, because the medium does not change; several workers answer at once.
//!
//! With [`Cache::Kernel`] contents stay in the kernel's page cache and the kernel reads ahead. With [`Cache::Own`] every read of a program
//! comes here as it was made and goes through the [`Reader`] with its policy: the only way to see what a policy does, since
//! the kernel's own read-ahead would hide it.
//!
//! The process that calls [`mount`] must not touch the mounted directory afterwards and must not start programs between the call and the
//! end of the mount: a program that inherits the connection would keep it alive after this process is gone.

mod areas;
mod attributes;
mod connect;
mod directories;
mod files;
mod following;
mod look;
mod table;

pub use connect::On;
pub use directories::DirOrder;

use crate::reader::Reader;
use crate::source::ReadAt;
use files::Files;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

/// What the name of the source begins with in the kernel's table; the type there is `fuse`, and `fuse.fathom` if a helper mounted.
pub const SOURCE: &str = "fathom:";

/// Who keeps contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// The kernel, which also reads ahead.
    Kernel,
    /// The reader, under its policy.
    Own,
}

/// How an image is mounted.
#[derive(Clone, Debug)]
pub struct Mounting {
    /// Name of the image in the kernel's table, behind [`SOURCE`].
    pub name: String,
    /// Who keeps contents.
    pub cache: Cache,
    /// Threads that answer; at least 1.
    pub workers: usize,
    /// Whether other users than the one who mounts may look.
    pub others: bool,
    /// Whether all directories are looked through meanwhile, so that the kernel can open files without asking if none is cut short. Not for
    /// media whose head that would move.
    pub look: bool,
    /// In which order directories show their entries.
    pub order: DirOrder,
    /// Bytes that directories may take which are read and taken apart in advance; 0 leaves each until it is asked for.
    pub metadata: u64,
    /// Bytes of small files that are read in advance behind one that is opened in its turn; only with a cache of our own.
    pub small_files: u64,
}

/// A mounted image.
#[derive(Debug)]
pub struct Mounted {
    session: JoinHandle<io::Result<()>>,
}

impl Mounted {
    /// Waits until it is unmounted, by whomever.
    ///
    /// # Errors
    /// What ended the connection otherwise.
    pub fn wait(self) -> io::Result<()> {
        self.session.join().unwrap_or_else(|_| Err(io::Error::other("a worker of the mount panicked")))
    }
}

/// Mounts. Afterwards the directory shows the image, until it is unmounted or this process ends.
///
/// # Errors
/// No /dev/fuse, no right to mount, no fusermount3 for an ordinary user, or the directory.
pub fn mount<S: ReadAt + 'static>(reader: Reader<S>, on: On<'_>, how: &Mounting) -> io::Result<Mounted> {
    let image = Arc::clone(reader.image());
    let files = Files::new(reader, how);
    files.read_directories();
    let whole = files.whole();
    let session = connect::session(files, on, how)?;
    if how.look && how.cache == Cache::Kernel {
        let look = move || whole.store(look::has_all(&image), Ordering::Release);
        // Without it every file is asked for, as before.
        let _ = std::thread::Builder::new().name("look".into()).spawn(look);
    }
    let session = std::thread::Builder::new().name("mount".into()).spawn(move || session.run())?;
    Ok(Mounted { session })
}
