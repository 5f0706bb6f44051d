//! Traces of other programs: no bytes panic, whatever form they are taken for. The first byte chooses: found out from the
//! content, or one of the forms. What is read can be written in every form.

#![no_main]

use fathom_dialects::trace::{Output, TraceFormat, open, writer};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// Events looked at: compressed input may go on for ever.
const MOST_EVENTS: usize = 20_000;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let form = TraceFormat::ALL.get(usize::from(first) % (TraceFormat::ALL.len() + 1)).copied();
    let input = Box::new(Cursor::new(rest.to_vec()));
    let Ok(mut trace) = open("input", input, form) else { return };
    let events: Vec<_> = trace.by_ref().take(MOST_EVENTS).map_while(Result::ok).collect();
    let about = trace.about();
    for output in [Output::Own, Output::Tracefs, Output::Blkparse, Output::Csv, Output::Iolog] {
        let mut writer = writer(output, Box::new(std::io::sink()), &about, "fuzz").expect("a sink takes all");
        for event in &events {
            writer.event(event, &|| about.clone()).expect("a sink takes all");
        }
        writer.finish(&about).expect("a sink takes all");
    }
});
