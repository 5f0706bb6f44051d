//! A run as JSON: no text panics, what is read is written and read back, and its figures can be computed.

#![no_main]

use fathom_record::export::{from_json, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(run) = from_json(text) else { return };
    let written = json(&run);
    let again = from_json(&written).expect("what was written is a run");
    assert_eq!(json(&again), written);
    for phase in &run.phases {
        let _ = (phase.bytes_per_s(), phase.ops_per_s(), phase.origin());
        let latency = phase.latency();
        let _ = (latency.mean_ns(), latency.percentile_ns(99.0), latency.buckets().count());
        for repetition in &phase.repetitions {
            let _ =
                (repetition.bytes(), repetition.ops(), repetition.parent_bytes_per_s(), repetition.error());
        }
    }
});
