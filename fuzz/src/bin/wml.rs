//! Filebench's Workload Model Language: no text panics, what is found wrong has a place in the text, and what is read is printed and read
//! back the same.

#![no_main]

use fathom_dialects::filebench::{parse, print};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    let lines = text.split('\n').count();
    for found in parsed.errors.iter().chain(&parsed.warnings) {
        assert!((1..=lines).contains(&found.line) && found.column > 0 && found.length > 0, "{found:?}");
        assert!(!found.render("f", text).is_empty());
    }
    // Only for what it must not do: panic.
    let _ = parsed.script.since_older();
    let printed = print(&parsed.script);
    if parsed.errors.is_empty() {
        let again = parse(&printed);
        assert!(again.errors.is_empty(), "{printed}\n{:#?}", again.errors);
        assert!(again.warnings.is_empty(), "{printed}\n{:#?}", again.warnings);
        assert_eq!(again.script, parsed.script, "{printed}");
    }
});
