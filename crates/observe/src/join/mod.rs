//! Relates our own calls to the requests at the device. Each request is mapped to our files by its sectors ([`layout`]), and each call to
//! its requests by file, offset and time ([`calls`]). So a report can say what a call became, what was read but never requested, and what
//! an fsync really waited for.
//!
//! Pure except for [`layout::Layout::of`], which queries the file system.

pub mod calls;
pub mod keep;
pub mod layout;
mod spans;
mod still;
mod syncs;

pub use calls::{Call, Joined, PerCall, join};
pub use keep::{Keeper, Kept};
pub use layout::{Layout, Pieces};
pub use still::Still;
pub use syncs::SyncWaits;

#[cfg(test)]
mod tests {
    //! Calls, requests and layouts for the tests of this module.

    use super::*;
    use crate::extents::Placed;
    use fathom_record::OpKind;
    use fathom_record::block::{IssuerKind, RequestFlags};

    /// A call on file 0.
    pub fn call(op: OpKind, start_ns: u64, latency_ns: u64, offset: u64, bytes: u64) -> Call {
        Call { start_ns, latency_ns, op, file: 0, offset, bytes, worker: 0 }
    }

    /// A request that takes `ns`.
    pub fn kept(issued_ns: u64, ns: u64, sector: u64, sectors: u32, word: &str) -> Kept {
        let flags = RequestFlags::parse(word);
        Kept { issued_ns, completed_ns: issued_ns + ns, sector, sectors, flags, issuer: IssuerKind::Own }
    }

    /// File 0, in one piece from sector 0 on.
    pub fn one_file(bytes: u64) -> Layout {
        Layout::drawn(&[(0, vec![Placed { offset: 0, at: 0, length: bytes }])])
    }
}
