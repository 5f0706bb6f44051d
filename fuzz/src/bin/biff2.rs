//! BIFF2 worksheets: no bytes panic; what is read is written and read back the same.

#![no_main]

use fathom_dialects::iozone::worksheet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(sheet) = worksheet::read(bytes) else { return };
    let written = worksheet::write(&sheet).expect("what was read lies inside a sheet");
    // Texts may be cut the first time, and NaN is not equal to itself: bytes are compared.
    let again = worksheet::read(&written).expect("what was written is a sheet");
    assert_eq!(worksheet::write(&again).as_ref(), Ok(&written));
});
