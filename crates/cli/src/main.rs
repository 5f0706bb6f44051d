//! fathom.
fn main() {}
