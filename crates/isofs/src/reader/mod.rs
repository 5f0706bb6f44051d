//! Reads files through our own cache, elevator and read-ahead, so that the policies of 2007 and of today can be compared on the same
//! image. The rules are those of crate iopath; [`Core`] combines them without threads or clock; this module adds threads (the caller's
//! own, and a few that read ahead), a clock and the image.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = fathom_testkit::iso::Builder::new().file("a.txt", &[7; 100_000]).build().bytes;
//! use fathom_isofs::reader::{Policy, Reader};
//! use fathom_isofs::{Image, Options};
//! let image = Image::open(bytes, &Options::default())?;
//! let node = image.resolve(b"/a.txt")?.expect("the image holds it");
//! let reader = Reader::new(image.into(), &Policy::seed())?;
//! let file = reader.open(&node);
//! let mut buf = vec![0; 65536];
//! assert_eq!(file.read_at(50_000, &mut buf)?, 50_000);
//! assert!(reader.counters().requests > 0);
//! # Ok(())
//! # }
//! ```

mod cache;
mod core;
mod counters;
mod device;
mod file_pages;
mod idle;
mod look;
mod pieces;
mod policy;
mod rounds;
mod slab;
mod threads;

pub use self::core::{Call, Core, Stream};
pub use counters::{Counters, DISTANCES};
pub use device::{Job, Work};
pub use look::{Look, PagePosition, View};
pub use policy::{
    BUNDLES, CACHE_BYTES, Chunk, IDLE_S, MOST_BRIDGE, MOST_TRANSFER, Medium, Policy, PolicyError,
};

use crate::error::{Error, Place, Result};
use crate::format::section::{Extents, Section};
use crate::image::Image;
use crate::node::{Data, Node};
use crate::read::{Fetch, beyond, partial};
use crate::source::ReadAt;
use fathom_iopath::readahead::PAGE_BYTES;
use std::sync::Arc;
use threads::{Owner, Shared};

/// An image whose files are read under a policy. Cheap to clone; clones share everything.
#[derive(Debug)]
pub struct Reader<S: ReadAt + 'static> {
    owner: Arc<Owner<S>>,
}

impl<S: ReadAt + 'static> Clone for Reader<S> {
    fn clone(&self) -> Self {
        Self { owner: Arc::clone(&self.owner) }
    }
}

impl<S: ReadAt + 'static> Reader<S> {
    /// A reader over an image.
    ///
    /// # Errors
    /// An invalid policy.
    pub fn new(image: Arc<Image<S>>, policy: &Policy) -> std::result::Result<Self, PolicyError> {
        let core = Core::new(policy, image.disc.block(), image.disc.size())?;
        Ok(Self { owner: Arc::new(Owner(Shared::new(image, core, policy))) })
    }

    /// The image.
    #[must_use]
    pub fn image(&self) -> &Arc<Image<S>> {
        &self.owner.0.image
    }

    /// Opens a file; with `Policy::per_open` it has its own read-ahead state. Anything but a regular file can be opened, too, and fails
    /// when it is read.
    #[must_use]
    pub fn open(&self, node: &Node) -> Handle<S> {
        let stream = match &node.data {
            Data::Stored(extents) | Data::Packed { extents, .. } => {
                let mut guard = self.owner.0.lock();
                guard.opened();
                Some(guard.core.open(extents))
            }
            _ => None,
        };
        Handle { owner: Arc::clone(&self.owner), node: node.clone(), stream }
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.owner.0.lock().core.counters()
    }

    /// Prefetches small files in order, until one exceeds the rest of `most` bytes. No caller waits for them.
    pub fn prefetch<'n>(&self, files: impl IntoIterator<Item = &'n Node>, most: u64) {
        let shared = &self.owner.0;
        let mut guard = shared.lock();
        guard.used(shared.now());
        let mut left = most;
        for extents in files.into_iter().filter_map(shared_extents) {
            let Some(bytes) = guard.core.prefetch(shared.now(), extents, left) else { break };
            left -= bytes;
        }
        shared.help(guard);
        shared.watch(shared.lock());
    }

    /// Reads metadata from block `lbn`; class-aware elevators serve it ahead of file data.
    ///
    /// # Errors
    /// If not all of it can be read.
    pub fn read_metadata(&self, lbn: u64, buf: &mut [u8]) -> Result<()> {
        let shared = &self.owner.0;
        let section = Section { lbn, bytes: buf.len() as u64, unit: 0, gap: 0 };
        let extents: Arc<Extents> = Arc::new(std::iter::once(section).collect());
        let stream = shared.lock().core.open_metadata(&extents);
        let record = Place { lbn, offset: 0 };
        let read = through(shared, Some(stream), &extents, 0, buf, record);
        let mut guard = shared.lock();
        guard.core.close(stream);
        shared.watch(guard);
        match read? {
            n if n == buf.len() => Ok(()),
            n => Err(beyond(record, n as u64)),
        }
    }

    /// Counts directories read and parsed in advance.
    pub fn count_directories(&self, reads: u64, bytes: u64, directories: u64) {
        self.owner.0.lock().core.count_directories(reads, bytes, directories);
    }

    /// Frees the memory of every unused page; returns their number.
    pub fn give_back(&self) -> u64 {
        self.owner.0.lock().core.give_back()
    }
}

fn shared_extents(node: &Node) -> Option<&Arc<Extents>> {
    match &node.data {
        Data::Stored(extents) | Data::Packed { extents, .. } => Some(extents),
        _ => None,
    }
}

/// An open file; closed on drop.
#[derive(Debug)]
pub struct Handle<S: ReadAt + 'static> {
    owner: Arc<Owner<S>>,
    node: Node,
    stream: Option<Stream>,
}

impl<S: ReadAt + 'static> Handle<S> {
    /// The file.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Reads bytes from `offset` on; fewer than requested only at the end or before an unreadable part. Several threads may read at once.
    ///
    /// # Errors
    /// As [`Image::read_at`].
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize> {
        self.owner.0.image.read_with(&self.node, offset, buf, self)
    }
}

impl<S: ReadAt + 'static> Drop for Handle<S> {
    fn drop(&mut self) {
        if let Some(stream) = self.stream {
            let mut guard = self.owner.0.lock();
            guard.core.close(stream);
            self.owner.0.closed(guard);
        }
    }
}

impl<S: ReadAt + 'static> Fetch for Handle<S> {
    fn stored(&self, extents: &Extents, offset: u64, buf: &mut [u8], record: Place) -> Result<usize> {
        through(&self.owner.0, self.stream, extents, offset, buf, record)
    }
}

/// Reads stored bytes through the cache, for an opening, or directly if there is none.
fn through<S: ReadAt + 'static>(
    shared: &Arc<Shared<S>>,
    stream: Option<Stream>,
    extents: &Extents,
    offset: u64,
    buf: &mut [u8],
    record: Place,
) -> Result<usize> {
    let wanted = u64::try_from(buf.len()).unwrap_or(u64::MAX);
    let call = stream.and_then(|stream| {
        let mut guard = shared.lock();
        guard.used(shared.now());
        guard.core.begin(stream, offset, wanted)
    });
    let Some(mut call) = call else {
        return shared.image.read_stored(extents, offset, buf, record);
    };
    let mut filling = Filling { offset, end: extents.bytes(), done: 0, failure: None, record };
    loop {
        let mut guard = shared.lock();
        let standing = match filling.failure {
            None => guard.core.touch(shared.now(), &mut call),
            Some(_) => None,
        };
        let Some(standing) = standing else {
            guard.core.end(call);
            break shared.help(guard);
        };
        let (mut guard, (views, failure)) = shared.wait(guard, &standing);
        guard.core.release(&call, standing);
        drop(guard);
        filling.take(&views, failure, buf);
    }
    filling.finish()
}

/// State of a buffer being filled page by page.
struct Filling {
    offset: u64,
    /// Size of the file.
    end: u64,
    done: usize,
    failure: Option<Error>,
    record: Place,
}

impl Filling {
    /// Copies a page's part of the buffer at the current position.
    fn take(&mut self, views: &[View], failure: Option<(u64, i32)>, buf: &mut [u8]) {
        let at = self.offset.saturating_add(self.done as u64);
        let mut within = usize::try_from(at % PAGE_BYTES).unwrap_or(0);
        let page_end = (at - at % PAGE_BYTES).saturating_add(PAGE_BYTES).min(self.end);
        let wanted = usize::try_from(page_end.saturating_sub(at)).unwrap_or(0).min(buf.len() - self.done);
        let end = within + wanted;
        for view in views {
            let (first, last) = (within.max(view.at), end.min(view.at + view.bytes));
            if first != within || first >= last {
                continue; // before the wanted part, or a gap
            }
            let from = view.from + (first - view.at);
            let length = last - first;
            let Some(bytes) = view.buffer.get(from..from + length) else { break };
            buf[self.done..self.done + length].copy_from_slice(bytes);
            self.done += length;
            within = last;
        }
        if within < end {
            let at = self.offset.saturating_add(self.done as u64);
            self.failure = Some(match failure {
                Some((byte, errno)) => Error::Io {
                    at: Place::of_byte(byte, 0),
                    source: std::io::Error::from_raw_os_error(errno),
                },
                None => beyond(self.record, at),
            });
        }
    }

    fn finish(self) -> Result<usize> {
        match self.failure {
            Some(error) => partial(self.done, || error),
            None => Ok(self.done),
        }
    }
}
