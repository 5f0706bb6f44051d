//! Outputs of other programs in any text: no bytes panic, every line is accounted for once, every figure is a number, and what is
//! found can be kept as JSON and be taken apart. The first byte chooses a file name, which says what a log is of.

#![no_main]

use fathom_dialects::import::import;
use fathom_record::{export, figures};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 4] = ["mail.txt", "job_lat.1.log", "job_bw.1.log", "job_iops.log"];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let imported = import(NAMES[usize::from(first) % NAMES.len()], rest, None);
    let mut end = 0;
    for found in &imported.found {
        assert!(found.first_line > end && found.last_line >= found.first_line, "outputs overlap");
        end = found.last_line;
        for run in &found.runs {
            assert!(figures::of(run).iter().flat_map(|s| &s.values).all(|v| v.value.is_finite()));
            assert_eq!(export::from_json(&export::json(run)).expect("what was written is a run"), *run);
        }
    }
});
