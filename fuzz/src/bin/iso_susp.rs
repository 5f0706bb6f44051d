//! System use entries and what Rock Ridge makes of them: no bytes panic; names and targets are no longer than what they came from.

#![no_main]

use fathom_isofs::format::rock_ridge::RockRidge;
use fathom_isofs::format::susp::{Continuation, Entries, extension_id, skip_of_root};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = skip_of_root(bytes);
    let mut rr = RockRidge::default();
    let mut entries = Entries::new(bytes);
    for entry in &mut entries {
        let _ = (Continuation::parse(entry.payload), extension_id(entry.payload));
        rr.take(&entry, 0);
    }
    // Each component of a target takes two bytes at least and gives two dots and a slash at most.
    assert!(rr.target.is_none_or(|target| target.len() <= bytes.len() * 3));
    assert!(rr.name.is_none_or(|name| name.len() <= bytes.len()));
    assert!(entries.broken_at().is_none_or(|at| at < bytes.len()));
});
