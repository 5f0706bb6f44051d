//! Volume descriptors, boot catalogues, dates and extended attribute records of ISO 9660: no bytes panic, dates stay in their range.

#![no_main]

use fathom_isofs::format::descriptor::{Descriptor, parse};
use fathom_isofs::format::{date, el_torito, xar};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(Descriptor::Volume(volume)) = parse(bytes) {
        assert!(volume.volume_id.len() <= 32);
    }
    if let Ok(images) = el_torito::catalog(bytes) {
        assert!(images.iter().all(|image| image.lbn != 0 && image.bytes() < 64 << 20));
    }
    let _ = (el_torito::disk_bytes(bytes), xar::parse(bytes));
    for date in [date::short(bytes), date::long(bytes)] {
        assert!((0..5_869_584_000).contains(&date.moment().unwrap_or_default().seconds));
    }
});
