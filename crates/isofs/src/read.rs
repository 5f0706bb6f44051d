//! Content: bytes of a file from its sections, decompressed if needed. The available part of a damaged file is read; where it ends, the
//! reader returns an error, never zeros and never a silent end.

use crate::error::{Error, Place, Result};
use crate::format::section::Extents;
use crate::format::zisofs::{self, Claim, Header};
use crate::image::Image;
use crate::node::{Data, Node};
use crate::parallel_unpack::{self, UnpackJob};
use crate::source::ReadAt;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of decompressed blocks in the cache: enough for a few sequential readers. A block is at most 128 KiB, so they take at most
/// 2 MiB.
const KEPT: usize = 16;

/// A block of a file, identified by all its sections: files may share their first block and continue differently.
type BlockKey = (u64, u64);

/// A decompressed block in the decoder's own vector; a slice would need another copy.
type Block = Arc<Vec<u8>>;

/// Source of a file's stored bytes: the image itself, or a reader with a cache.
pub(crate) trait Fetch {
    /// Reads stored bytes across runs; fewer only at the end or before an unreadable part.
    fn stored(&self, extents: &Extents, offset: u64, buf: &mut [u8], record: Place) -> Result<usize>;
}

impl<S: ReadAt> Fetch for Image<S> {
    fn stored(&self, extents: &Extents, offset: u64, buf: &mut [u8], record: Place) -> Result<usize> {
        self.read_stored(extents, offset, buf, record)
    }
}

/// The last decompressed blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockCache {
    blocks: Mutex<VecDeque<(BlockKey, Block)>>,
}

impl BlockCache {
    fn get(&self, key: BlockKey) -> Option<Block> {
        let blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.iter().find(|(kept, _)| *kept == key).map(|(_, block)| Arc::clone(block))
    }

    fn put(&self, key: BlockKey, block: &Block) {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.len() >= KEPT {
            blocks.pop_front();
        }
        blocks.push_back((key, Arc::clone(block)));
    }
}

impl<S: ReadAt> Image<S> {
    /// Reads bytes of a regular file from `offset` on; fewer than requested only at its end or before an unreadable part.
    ///
    /// # Errors
    /// [`Error::Kind`] if it is no regular file, [`Error::Data`] if the first requested byte is damaged or missing,
    /// [`Error::Unsupported`] if it is not readable by design or by this build, [`Error::Io`].
    pub fn read_at(&self, node: &Node, offset: u64, buf: &mut [u8]) -> Result<usize> {
        self.read_with(node, offset, buf, self)
    }

    /// Like `read_at`, with the stored bytes from `fetch`.
    pub(crate) fn read_with(
        &self,
        node: &Node,
        offset: u64,
        buf: &mut [u8],
        fetch: &impl Fetch,
    ) -> Result<usize> {
        match &node.data {
            Data::Stored(extents) => fetch.stored(extents, offset, buf, node.record),
            Data::Packed { extents, claim } => {
                Packed::new(fetch, &self.cache, node, extents, claim.as_ref()).read(offset, buf)
            }
            Data::Refused { what, supported: true } => {
                Err(Error::Data { at: node.record, what: (*what).into() })
            }
            Data::Refused { what, supported: false } => {
                Err(Error::Unsupported { at: node.record, what: (*what).into() })
            }
            Data::Directory { .. } | Data::Own { .. } | Data::Target(_) | Data::None => {
                Err(Error::Kind { at: node.record, what: "not a regular file" })
            }
        }
    }

    /// Whether the image contains every byte of a file according to its record. True for anything but regular files.
    #[must_use]
    pub fn holds(&self, node: &Node) -> bool {
        let sections = node.extents().map(|extents| extents.sections()).unwrap_or_default();
        let block = self.disc.block();
        sections.iter().all(|section| section.end(block).is_some_and(|end| end <= self.disc.size()))
    }

    /// All of a file, if it is no larger than `limit` bytes.
    ///
    /// # Errors
    /// As [`Image::read_at`], and [`Error::Limit`].
    pub fn read_all(&self, node: &Node, limit: u64) -> Result<Vec<u8>> {
        if node.size() > limit {
            let what = format!("a file of {} bytes, more than the {limit} asked for", node.size());
            return Err(Error::Limit { at: node.record, what });
        }
        // Grown while reading: the size is only a claim of the disc.
        let mut content = Vec::new();
        let mut piece = vec![0; 64 << 10];
        loop {
            let offset = u64::try_from(content.len()).unwrap_or(u64::MAX);
            match self.read_at(node, offset, &mut piece)? {
                0 => return Ok(content),
                n => content.extend_from_slice(&piece[..n]),
            }
        }
    }

    /// Reads stored bytes across runs.
    pub(crate) fn read_stored(
        &self,
        extents: &Extents,
        offset: u64,
        buf: &mut [u8],
        record: Place,
    ) -> Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            if at >= extents.bytes() {
                break;
            }
            let Some(run) = extents.run(at, self.disc.block()) else {
                return partial(done, || beyond(record, at));
            };
            let wanted = u64::try_from(buf.len() - done).unwrap_or(u64::MAX).min(run.length);
            let there = usize::try_from(self.disc.available(run.byte, wanted)).unwrap_or(0);
            if there == 0 {
                return partial(done, || beyond(record, at));
            }
            if let Err(error) = self.disc.fill(run.byte, &mut buf[done..done + there]) {
                return partial(done, || error);
            }
            done += there;
        }
        Ok(done)
    }

    /// Checks the headers and every block pointer of a compressed file, without decompressing.
    pub(crate) fn check_packed(&self, node: &Node) -> Result<()> {
        let Data::Packed { extents, claim } = &node.data else { return Ok(()) };
        let mut packed = Packed::new(self, &self.cache, node, extents, claim.as_ref());
        let header = packed.header()?;
        let mut index = 0;
        while index < header.blocks() {
            packed.pointers(&header, index)?;
            index += 1;
        }
        Ok(())
    }
}

/// The bytes read before an error, or the error if there are none.
pub(crate) fn partial(done: usize, error: impl FnOnce() -> Error) -> Result<usize> {
    if done > 0 { Ok(done) } else { Err(error()) }
}

/// The error for a file that continues beyond the image.
pub(crate) fn beyond(record: Place, offset: u64) -> Error {
    let what = format!("byte {offset} of the file lies beyond the end of the image");
    Error::Data { at: record, what }
}

/// A compressed file being read.
struct Packed<'a, F> {
    fetch: &'a F,
    cache: &'a BlockCache,
    node: &'a Node,
    extents: &'a Extents,
    claim: Option<&'a Claim>,
    header: Option<Header>,
}

impl<'a, F: Fetch> Packed<'a, F> {
    fn new(
        fetch: &'a F,
        cache: &'a BlockCache,
        node: &'a Node,
        extents: &'a Extents,
        claim: Option<&'a Claim>,
    ) -> Self {
        Self { fetch, cache, node, extents, claim, header: None }
    }

    fn damaged(&self, what: impl Into<String>) -> Error {
        Error::Data { at: self.node.record, what: what.into() }
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize> {
        let header = self.header()?;
        let mut done = 0;
        let end = offset.saturating_add(buf.len() as u64).min(header.size);
        let first = offset / header.block();
        let ready = if offset < end {
            self.unpack_at_once(&header, first..end.div_ceil(header.block()))
        } else {
            Vec::new()
        };
        while done < buf.len() {
            let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            if at >= header.size {
                break;
            }
            let index = at / header.block();
            let known = usize::try_from(index - first).ok().and_then(|n| ready.get(n)?.clone());
            let block = match known.map_or_else(|| self.block(&header, index), Ok) {
                Ok(block) => block,
                Err(error) => return partial(done, || error),
            };
            let within = usize::try_from(at % header.block()).unwrap_or(0);
            let Some(rest) = block.get(within..).filter(|rest| !rest.is_empty()) else { break };
            let n = rest.len().min(buf.len() - done);
            buf[done..done + n].copy_from_slice(&rest[..n]);
            done += n;
        }
        Ok(done)
    }

    /// The file's own header, which must agree with the directory.
    fn header(&mut self) -> Result<Header> {
        if let Some(header) = self.header {
            return Ok(header);
        }
        let mut first = [0; zisofs::HEADER];
        let n = self.fetch.stored(self.extents, 0, &mut first, self.node.record)?;
        let header = zisofs::header(&first[..n])
            .ok_or_else(|| self.damaged("the directory says zisofs, but the file has no header of it"))?
            .map_err(|what| self.damaged(what))?;
        if self.claim.is_some_and(|claim| !header.agrees_with(claim)) {
            return Err(self.damaged("directory and file disagree about how the file is compressed"));
        }
        self.header = Some(header);
        Ok(header)
    }

    /// Position and length of a block, both validated.
    fn pointers(&self, header: &Header, index: u64) -> Result<(u64, u64)> {
        let at = header.pointer_at(index).ok_or_else(|| self.damaged("a zisofs block without a pointer"))?;
        let mut bytes = [0; 16];
        let wanted = usize::from(header.pointer_bytes) * 2;
        let n = self.fetch.stored(self.extents, at, &mut bytes[..wanted], self.node.record)?;
        let pair = header
            .pointers(&bytes[..n])
            .ok_or_else(|| self.damaged("the pointers of a zisofs file go on beyond its end"))?;
        let length = header
            .check_pointers(pair, self.extents.bytes())
            .map_err(|what| self.damaged(format!("{what} (block {index})")))?;
        Ok((pair.0, length))
    }

    /// Decompresses several blocks of a read in parallel. A damaged one is left out; its error is reported when it is read alone.
    fn unpack_at_once(&self, header: &Header, indices: Range<u64>) -> Vec<Option<Block>> {
        let Some(codec) = header.codec.filter(|codec| codec.is_built()) else { return Vec::new() };
        if indices.end - indices.start < 2 || indices.end - indices.start > MOST_AT_ONCE {
            return Vec::new();
        }
        let key = |index| (self.extents.digest(), index);
        let mut ready: Vec<Option<Block>> = indices.clone().map(|index| self.cache.get(key(index))).collect();
        let (mut jobs, mut places) = (Vec::new(), Vec::new());
        for (place, index) in indices.enumerate().filter(|(place, _)| ready[*place].is_none()) {
            let Ok((start, length)) = self.pointers(header, index) else { break };
            let mut packed = vec![0; usize::try_from(length).unwrap_or(0)];
            let got = self.fetch.stored(self.extents, start, &mut packed, self.node.record);
            let bytes = usize::try_from(header.block_bytes(index)).unwrap_or(0);
            if length > 0 && got.is_ok_and(|n| n == packed.len()) {
                jobs.push(UnpackJob { packed, bytes });
                places.push((place, index));
            }
        }
        for ((place, index), unpacked) in places.into_iter().zip(parallel_unpack::unpack(jobs, codec)) {
            let Some(unpacked) = unpacked else { continue };
            let block = Arc::new(unpacked);
            self.cache.put(key(index), &block);
            ready[place] = Some(block);
        }
        ready
    }

    /// A block decompressed.
    fn block(&self, header: &Header, index: u64) -> Result<Block> {
        let key = (self.extents.digest(), index);
        if let Some(block) = self.cache.get(key) {
            return Ok(block);
        }
        let (start, length) = self.pointers(header, index)?;
        let bytes = usize::try_from(header.block_bytes(index)).unwrap_or(0);
        let block = Arc::new(if length == 0 {
            vec![0; bytes]
        } else {
            self.unpack(header, start, length, bytes, index)?
        });
        self.cache.put(key, &block);
        Ok(block)
    }

    fn unpack(&self, header: &Header, start: u64, length: u64, bytes: usize, index: u64) -> Result<Vec<u8>> {
        let at = self.node.record;
        let codec = header.codec.filter(|codec| codec.is_built()).ok_or_else(|| Error::Unsupported {
            at,
            what: "a zisofs file compressed in a way that this build does not know".into(),
        })?;
        // At most two blocks: check_pointers has ensured that.
        let mut packed = vec![0; usize::try_from(length).unwrap_or(0)];
        let n = self.fetch.stored(self.extents, start, &mut packed, at)?;
        if n < packed.len() {
            return Err(self.damaged(format!("zisofs block {index} is not all in the image")));
        }
        codec.unpack(&packed, bytes).map_err(|what| self.damaged(format!("{what} (zisofs block {index})")))
    }
}

/// Maximum number of blocks of a read decompressed in parallel: 1 MiB of the smallest blocks.
const MOST_AT_ONCE: u64 = 32;
