//! The structures on the disc, one file each: bytes in, fields out. No file here reads the medium, allocates by a number from the disc
//! or knows what a tree is; what is impossible is refused, what is odd is left to the caller to report.

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
