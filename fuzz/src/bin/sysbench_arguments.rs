//! SysBench's command line: no arguments panic; what is planned makes sense to the model, survives its format, and prints.

#![no_main]

use fathom_dialects::LivePrinter as _;
use fathom_dialects::sysbench::{Context, SysbenchPrinter, plan};
use fathom_workload::Workload;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

/// What the model refuses for its size alone. Such a command line ends with this sentence.
const TOO_MUCH: [&str; 5] = [
    "too large",
    "larger than any file",
    "beyond the largest",
    "more than 65536 workers",
    "in flight",
];

/// Files up to which the head of a run is printed: --debug names them all.
const PRINTED_FILES: u32 = 1 << 16;

fuzz_target!(|text: &str| {
    let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let read = |path: &Path| match path.to_str() {
        Some("options") => Ok("threads=3\n# comment\nfile-test-mode = rndrd\n[group]\n--histogram\n".to_owned()),
        _ => Err("No such file or directory".to_owned()),
    };
    let context = Context { clock_seed: 1, read: &read };
    let Ok(parsed) = plan(&arguments, &context) else { return };
    if let Err(errors) = parsed.workload.check()
        && let Some(error) = errors.iter().find(|e| !TOO_MUCH.iter().any(|t| e.message.contains(t)))
    {
        panic!("sysbench {text}: {error}");
    }
    let written = parsed.workload.to_toml().expect("a planned workload is text");
    assert_eq!(Workload::from_toml(&written).as_ref(), Ok(&parsed.workload));
    // What is stored of the command line means the same.
    let again = plan(&parsed.arguments, &context).expect("accepted before");
    assert_eq!(again.options, parsed.options);
    if parsed.options.files <= PRINTED_FILES && parsed.options.threads <= PRINTED_FILES {
        let mut printer = SysbenchPrinter::new(&parsed);
        let _ = printer.head();
        if let Some(phase) = parsed.workload.phases.first() {
            let _ = printer.phase_started(phase);
        }
    }
});
