//! Our own calls beside what reached the device. Each request is found again in our files by where it lies ([`layout`]), each call
//! in the requests by file, offset and time ([`calls`]): so a report can say what one call became, what was fetched and never
//! asked for, and for what an fsync really waited.
//!
//! Pure but for [`layout::Layout::of`], which asks the file system where the files lie.

pub mod calls;
pub mod keep;
pub mod layout;
mod spans;
mod still;
mod syncs;

pub use calls::{Call, Joined, PerCall, join};
pub use keep::{Keeper, Kept};
pub use layout::Layout;
pub use still::Still;
pub use syncs::SyncWaits;

#[cfg(test)]
mod tests {
    //! Calls, requests and layouts for the tests of this room.

    use super::*;
    use crate::extents::Placed;
    use fathom_record::OpKind;
    use fathom_record::block::{IssuerKind, RequestFlags};

    /// A call on file 0.
    pub fn call(op: OpKind, start_ns: u64, latency_ns: u64, offset: u64, bytes: u64) -> Call {
        Call { start_ns, latency_ns, op, file: 0, offset, bytes }
    }

    /// A request that took so long.
    pub fn kept(issued_ns: u64, ns: u64, sector: u64, sectors: u32, word: &str) -> Kept {
        let flags = RequestFlags::parse(word);
        Kept { issued_ns, completed_ns: issued_ns + ns, sector, sectors, flags, issuer: IssuerKind::Own }
    }

    /// File 0, in one piece from sector 0 on.
    pub fn one_file(bytes: u64) -> Layout {
        Layout::drawn(&[(0, vec![Placed { offset: 0, at: 0, length: bytes }])])
    }
}
