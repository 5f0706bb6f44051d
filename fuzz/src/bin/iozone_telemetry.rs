//! IOzone's telemetry files: no text panics; a mistake has its place; a list names at least one operation of at least one byte.

#![no_main]

use fathom_dialects::iozone::telemetry;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match telemetry::parse(text) {
        Ok(list) => {
            assert!(!list.operations.is_empty());
            assert!(list.operations.iter().all(|op| op.bytes > 0));
            let _ = (list.file_kb(), list.aligned(4096));
        }
        Err(diagnostic) => {
            let _ = diagnostic.render("list", text);
        }
    }
});
