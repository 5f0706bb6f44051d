//! Mounts an image over FUSE: always read-only, nosuid and nodev. The kernel caches replies as long as the mount lasts, because the
//! medium does not change; several workers answer requests in parallel.
//!
//! With [`Cache::Kernel`], content stays in the kernel's page cache and the kernel reads ahead. With [`Cache::Own`], every read of a
//! program arrives here unchanged and goes through the [`Reader`] with its policy: the only way to observe a policy, since the kernel's
//! own read-ahead would hide it.
//!
//! The process that calls [`mount`] must not access the mounted directory afterwards and must not start programs before the mount ends: a
//! program that inherits the connection would keep it alive after this process has ended.

mod areas;
mod attributes;
mod completeness;
mod connect;
mod directories;
mod files;
mod prefetch;
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

/// Prefix of the source in the kernel's mount table; the type is `fuse`, or `fuse.fathom` if a helper mounted.
pub const SOURCE: &str = "fathom:";

/// Who caches content.
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
    /// Name of the image in the kernel's mount table, after [`SOURCE`].
    pub name: String,
    /// Who caches content.
    pub cache: Cache,
    /// Number of worker threads, at least 1.
    pub workers: usize,
    /// Whether other users may access the mount.
    pub others: bool,
    /// Whether to check all files in the background, so that the kernel can open files without asking if none is truncated. Not for media
    /// with a slow head.
    pub look: bool,
    /// Order of directory entries.
    pub order: DirOrder,
    /// Memory for directories parsed in advance, in bytes; 0 disables it.
    pub metadata: u64,
    /// Bytes of small files prefetched after one opened in sequence; only with our own cache.
    pub small_files: u64,
}

/// A mounted image.
#[derive(Debug)]
pub struct Mounted {
    session: JoinHandle<io::Result<()>>,
}

impl Mounted {
    /// Waits until it is unmounted.
    ///
    /// # Errors
    /// Any other reason why the connection ended.
    pub fn wait(self) -> io::Result<()> {
        self.session.join().unwrap_or_else(|_| Err(io::Error::other("a worker of the mount panicked")))
    }
}

/// Mounts the image, until it is unmounted or this process ends.
///
/// # Errors
/// No /dev/fuse, no permission to mount, no fusermount3 for an ordinary user, or a problem with the directory.
pub fn mount<S: ReadAt + 'static>(reader: Reader<S>, on: On<'_>, how: &Mounting) -> io::Result<Mounted> {
    let image = Arc::clone(reader.image());
    let files = Files::new(reader, how);
    files.read_directories();
    let whole = files.whole();
    let session = connect::session(files, on, how)?;
    if how.look && how.cache == Cache::Kernel {
        let look = move || whole.store(completeness::has_all(&image), Ordering::Release);
        // If the thread fails to start, every open is still requested, as before.
        let _ = std::thread::Builder::new().name("look".into()).spawn(look);
    }
    let session = std::thread::Builder::new().name("mount".into()).spawn(move || session.run())?;
    Ok(Mounted { session })
}
