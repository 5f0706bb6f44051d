//! The on-disc structures, one file each: bytes in, fields out. Nothing here reads the medium, allocates by a number from the disc or
//! knows about trees. Impossible values are rejected; odd ones are left for the caller to report.

pub mod bytes;
pub mod codec;
pub mod date;
pub mod descriptor;
pub mod el_torito;
pub mod name;
pub mod path_table;
pub mod record;
pub mod rock_ridge;
pub mod section;
pub mod susp;
pub mod xar;
pub mod zisofs;
