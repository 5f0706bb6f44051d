//! IOzone's command line: no arguments panic; what is planned makes sense to the model and survives its format.

#![no_main]

use fathom_dialects::iozone::{Context, plan};
use fathom_workload::Workload;
use jiff::civil::DateTime;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

/// What the model refuses for its size alone. IOzone's own limits lie higher; such a command line ends with this sentence.
const TOO_MUCH: [&str; 4] = [
    "too large to hold in memory",
    "larger than any file",
    "beyond the largest offset",
    "more than 65536 workers",
];

/// Phases up to which a workload is written and read back.
const ROUND_TRIP_PHASES: usize = 24;

fuzz_target!(|text: &str| {
    let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let read = |path: &Path| match path.to_str() {
        Some("list") => Ok("0 4096 1\n4096 4096 0\n".to_owned()),
        Some("bad") => Ok("0 4096 1\n# what\n4096 x\n".to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let context = Context {
        now: DateTime::constant(2026, 11, 21, 12, 0, 0, 0),
        uname: "Linux vm 6.18.0 x86_64".into(),
        page_bytes: 4096,
        read: &read,
    };
    let Ok(parsed) = plan(&arguments, &context) else { return };
    if let Err(errors) = parsed.workload.check()
        && let Some(error) = errors.iter().find(|e| !TOO_MUCH.iter().any(|t| e.message.contains(t)))
    {
        panic!("iozone {text}: {error}");
    }
    // A full table has hundreds of phases of the same kinds; writing them all would take nearly all of the time.
    if parsed.workload.phases.len() > ROUND_TRIP_PHASES {
        return;
    }
    let written = parsed.workload.to_toml().expect("a planned workload is text");
    assert_eq!(Workload::from_toml(&written).as_ref(), Ok(&parsed.workload));
});
