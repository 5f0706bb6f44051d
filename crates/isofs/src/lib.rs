//! A safe reader for ISO 9660 as a library: plain, Rock Ridge, Joliet, ISO 9660:1999 and High Sierra volumes, zisofs files, files in several
//! sections, interleaved files, sessions, raw 2352-byte images. Nothing on the disc is trusted: every number is checked
//! before it is used, nothing is read outside the image, nothing is allocated only because a header says so, nothing recurses.
//!
//! ```text
//! ReadAt (file, memory, raw image) ─▶ Disc (bounded reads) ─▶ format/ (bytes -> fields) ─▶ Image (volume, name space)
//!                                                                    └─▶ Node, Directory, read_at, Walk, check
//! ```
//!
//! * [`format`]: one file per on-disc structure; pure functions over byte slices
//! * [`Image`]: opens a volume, chooses a session and a name space, lists directories, reads files
//! * [`Walk`]: the whole tree without recursion, each directory once
//! * [`reader`]: files read through the cache, elevator and read-ahead of crate iopath, from any number of threads
//! * [`mount`]: mounts an image over FUSE
//! * [`Finding`]: a defect and its position (block and byte); a damaged image is read as far as possible
//!
//! ```
//! # fn main() -> Result<(), fathom_isofs::Error> {
//! # let bytes = fathom_testkit::iso::Builder::new().file("a.txt", b"hello").build().bytes;
//! use fathom_isofs::{Image, Options};
//! let image = Image::open(bytes, &Options::default())?;
//! let node = image.resolve(b"/a.txt")?.expect("the image holds it");
//! assert_eq!(image.read_all(&node, 1 << 20)?, b"hello");
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod check;
mod directory;
mod disc;
pub mod error;
pub mod finding;
pub mod format;
mod image;
#[cfg(feature = "mount")]
pub mod mount;
mod node;
pub mod options;
mod parallel_unpack;
mod raw;
mod read;
pub mod reader;
pub mod source;
#[cfg_attr(not(feature = "mount"), allow(dead_code, reason = "only a mount reads directories in advance"))]
mod staged;
mod volume;
mod walk;

pub use directory::{Directory, Entry};
pub use error::{Error, Place, Result};
pub use finding::{Condition, Finding, Findings};
pub use image::Image;
pub use node::{Kind, Node};
pub use options::{Namespace, Options, Session};
pub use raw::{RawImage, RawLayout};
pub use source::{FileSource, ReadAt, SourceRead};
pub use volume::{SessionInfo, VolumeInfo};
pub use walk::{Step, Walk};
