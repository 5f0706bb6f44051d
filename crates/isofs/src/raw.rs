//! Raw images (.bin): sectors of 2336, 2352 or 2448 bytes as on a CD, presented as the 2048 bytes of data in each. An image of plain
//! sectors is passed through unchanged.

use crate::source::{ReadAt, SourceRead, one_by_one};
use std::io;

/// The first bytes of a raw sector of 2352 bytes.
const SYNC: [u8; 12] = [0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0];

const DATA: u64 = 2048;

/// Sector layout of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawLayout {
    /// 2048 bytes of data each.
    Cooked,
    /// Sync, header, data; mode 1 or 2 according to each sector's header. 2352 bytes, or 2448 with subchannels.
    Synced(u32),
    /// Mode 2 without sync and header: 2336 bytes, data after a subheader of 8.
    Mode2,
}

impl RawLayout {
    /// Sector size in the image.
    #[must_use]
    pub fn sector(self) -> u32 {
        match self {
            Self::Cooked => 2048,
            Self::Synced(bytes) => bytes,
            Self::Mode2 => 2336,
        }
    }
}

/// An image of any layout, read as if its sectors had 2048 bytes.
#[derive(Debug)]
pub struct RawImage<S> {
    source: S,
    layout: RawLayout,
    size: u64,
}

impl<S: ReadAt> RawImage<S> {
    /// Detects the layout of an image.
    ///
    /// # Errors
    /// A read error of the source.
    pub fn detect(source: S) -> io::Result<Self> {
        let layout = layout_of(&source)?;
        let size = match layout {
            RawLayout::Cooked => source.size(),
            raw => source.size() / u64::from(raw.sector()) * DATA,
        };
        Ok(Self { source, layout, size })
    }

    /// The detected layout.
    #[must_use]
    pub fn layout(&self) -> RawLayout {
        self.layout
    }

    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    /// The data of one raw sector.
    fn data_of<'a>(&self, sector: &'a [u8]) -> io::Result<&'a [u8]> {
        let at = match self.layout {
            RawLayout::Cooked => 0,
            RawLayout::Mode2 => 8,
            RawLayout::Synced(_) => match sector.get(15) {
                Some(1) => 16,
                Some(2) if sector.get(18).is_some_and(|submode| submode & 0x20 == 0) => 24,
                Some(2) => return Err(io::Error::other("a sector of form 2 (audio or video), not of data")),
                _ => return Err(io::Error::other("a raw sector that is neither of mode 1 nor of mode 2")),
            },
        };
        sector.get(at..at + 2048).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }
}

impl<S: ReadAt> ReadAt for RawImage<S> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        if self.layout == RawLayout::Cooked {
            return self.source.read_at(offset, buf);
        }
        let bytes = u64::from(self.layout.sector());
        let mut sector = vec![0; usize::try_from(bytes).unwrap_or(2448)];
        let mut done = 0;
        while done < buf.len() {
            let at = offset.saturating_add(u64::try_from(done).unwrap_or(u64::MAX));
            if at >= self.size {
                break;
            }
            let start = (at / DATA).checked_mul(bytes).ok_or(io::ErrorKind::InvalidInput)?;
            if self.source.read_at(start, &mut sector)? < sector.len() {
                break;
            }
            let within = usize::try_from(at % DATA).unwrap_or(0);
            let data = &self.data_of(&sector)?[within..];
            let n = data.len().min(buf.len() - done);
            buf[done..done + n].copy_from_slice(&data[..n]);
            done += n;
        }
        Ok(done)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_parts(&self, offset: u64, parts: &mut [Vec<u8>]) -> (u64, Option<io::Error>) {
        if self.layout == RawLayout::Cooked {
            return self.source.read_parts(offset, parts);
        }
        let mut done = 0;
        for part in parts {
            match self.read_at(offset.saturating_add(done), part) {
                Ok(n) if n == part.len() => done += n as u64,
                Ok(n) => return (done + n as u64, None),
                Err(error) => return (done, Some(error)),
            }
        }
        (done, None)
    }

    fn at_once(&self) -> usize {
        if self.layout == RawLayout::Cooked { self.source.at_once() } else { 1 }
    }

    fn read_round(&self, reads: Vec<SourceRead>, done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>)) {
        if self.layout == RawLayout::Cooked {
            return self.source.read_round(reads, done);
        }
        one_by_one(self, reads, done);
    }
}

fn layout_of(source: &impl ReadAt) -> io::Result<RawLayout> {
    let has = |at: u64, wanted: &[u8]| -> io::Result<bool> {
        let mut there = vec![0; wanted.len()];
        Ok(source.read_at(at, &mut there)? == wanted.len() && there == wanted)
    };
    if has(0, &SYNC)? {
        for bytes in [2352u32, 2448] {
            if has(bytes.into(), &SYNC)? {
                return Ok(RawLayout::Synced(bytes));
            }
        }
    }
    // Without sync, only the descriptor identifies it: sector 16, after a subheader of 8 bytes.
    if !has(16 * DATA + 1, b"CD001")? && has(16 * 2336 + 9, b"CD001")? {
        return Ok(RawLayout::Mode2);
    }
    Ok(RawLayout::Cooked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sectors` sectors of `bytes`, data of the n-th all n, of this mode.
    fn raw(sectors: u8, bytes: usize, mode: u8) -> Vec<u8> {
        let mut image = Vec::new();
        for n in 0..sectors {
            let mut sector = SYNC.to_vec();
            sector.extend([0, 2, n, mode]);
            sector.resize(if mode == 1 { 16 } else { 24 }, 0);
            sector.extend([n; 2048]);
            sector.resize(bytes, 0xEE);
            image.extend(sector);
        }
        image
    }

    #[test]
    fn data_are_found_in_both_modes_and_with_subchannels() {
        for (bytes, mode) in [(2352, 1), (2352, 2), (2448, 1)] {
            let image = RawImage::detect(raw(4, bytes, mode)).unwrap();
            assert_eq!((image.layout().sector() as usize, image.size()), (bytes, 4 * 2048));
            let mut buf = [9; 3000];
            assert_eq!(image.read_at(2047, &mut buf).unwrap(), 3000);
            assert_eq!((buf[0], buf[1], buf[2048], buf[2049]), (0, 1, 1, 2));
            assert_eq!(image.read_at(4 * 2048 - 1, &mut buf).unwrap(), 1);
        }
    }

    #[test]
    fn form_2_is_no_data() {
        let mut image = raw(2, 2352, 2);
        image[18] = 0x20;
        let image = RawImage::detect(image).unwrap();
        assert!(image.read_at(0, &mut [0; 10]).unwrap_err().to_string().contains("form 2"));
        assert_eq!(image.read_at(2048, &mut [0; 10]).unwrap(), 10);
    }

    #[test]
    fn plain_images_pass_through() {
        let image = RawImage::detect(vec![5u8; 100]).unwrap();
        assert_eq!((image.layout(), image.size()), (RawLayout::Cooked, 100));
    }
}
