//! Directory records and path tables of ISO 9660: no bytes panic; what is met goes forward and stays inside the directory.

#![no_main]

use fathom_isofs::format::path_table::PathEntries;
use fathom_isofs::format::record::{Dialect, Met, Records};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (dialect, block, start) in [(Dialect::Iso, 2048, 0), (Dialect::HighSierra, 512, 512)] {
        let mut last = None;
        for met in Records::new(bytes, start, block, dialect) {
            let (Met::Record { at, .. } | Met::Bad { at, .. }) = met;
            assert!(at < bytes.len() && last.is_none_or(|last| at > last));
            last = Some(at);
        }
    }
    assert!(PathEntries::new(bytes, false).count() <= bytes.len() / 9 + 1);
    assert!(PathEntries::new(bytes, true).count() <= bytes.len() / 9 + 1);
});
