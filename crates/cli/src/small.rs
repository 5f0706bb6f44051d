//! Detects workloads that end before full observation could be set up: the kernel takes some 30 ms to allocate event
//! buffers and as long to free them. Such a run gets the device counters, unless events were requested by name.

use fathom_workload::{Amount, Bytes, FileSet, Phase, Program, Sizing, Stream, Workload};

/// A workload that moves at most this much in all phases and repetitions is small: a few ms even on a slow disk.
const SMALL_BYTES: u64 = 1 << 20;
/// The same for operations, each of which may be a seek.
const SMALL_OPERATIONS: u64 = 16;

/// Whether the workload is small. One limited by time or of unknown amount is not.
pub fn is_small(workload: &Workload) -> bool {
    let threads = workload.phases.iter().flat_map(|phase| {
        let groups = phase.groups.iter();
        groups.flat_map(move |g| {
            g.threads.iter().map(move |t| (phase, t, u64::from(g.instances) * u64::from(t.instances)))
        })
    });
    let mut sum = (0u64, 0u64);
    for (phase, thread, instances) in threads {
        let Some((operations, bytes)) = amount_of(workload, phase, &thread.program) else { return false };
        let times = instances.saturating_mul(u64::from(workload.repetitions));
        sum.0 = sum.0.saturating_add(operations.saturating_mul(times));
        sum.1 = sum.1.saturating_add(bytes.saturating_mul(times));
    }
    sum.0 <= SMALL_OPERATIONS && sum.1 <= SMALL_BYTES
}

/// Maximum number of operations and bytes of one thread.
fn amount_of(workload: &Workload, phase: &Phase, program: &Program) -> Option<(u64, u64)> {
    let Program::Stream(stream) = program else { return None };
    if phase.ramp.0 > 0 {
        return None;
    }
    let record = stream.record.largest().0.max(1);
    let operations = match stream.amount {
        Amount::Operations(n) => n,
        Amount::Bytes(Bytes(bytes)) => bytes.div_ceil(record),
        Amount::Pass => region(workload, stream)? / record,
        Amount::Passes(n) => (region(workload, stream)? / record).saturating_mul(n),
        Amount::Endless => return None,
    };
    Some((operations, operations.saturating_mul(record)))
}

fn region(workload: &Workload, stream: &Stream) -> Option<u64> {
    if let Some(Bytes(length)) = stream.length {
        return Some(length);
    }
    let set: &FileSet = workload.filesets.iter().find(|set| set.name == stream.fileset)?;
    match set.size {
        Sizing::Fixed(Bytes(bytes)) => Some(bytes),
        Sizing::Variable(_) | Sizing::Each(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(amount: &str, more: &str) -> Workload {
        let text = format!(
            "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"data\"] }}\nsize = {{ fixed = \"64KiB\" }}\n[[phase]]\nname = \"p\"\n{more}\
             [[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"f\"\n\
             direction = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\namount = {amount}\n"
        );
        Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    #[test]
    fn a_few_records_are_small_and_what_ends_by_time_is_not() {
        for (amount, more, small) in [
            ("{ operations = 16 }", "", true),
            ("{ operations = 17 }", "", false),
            ("\"pass\"", "", true),
            ("{ passes = 2 }", "", false),
            ("{ bytes = \"64KiB\" }", "", true),
            ("\"endless\"", "stop = { time = \"1s\" }\n", false),
            ("{ operations = 1 }", "ramp = \"1s\"\n", false),
        ] {
            assert_eq!(is_small(&workload(amount, more)), small, "{amount} {more}");
        }
        let mut repeated = workload("{ operations = 16 }", "");
        repeated.repetitions = 2;
        assert!(!is_small(&repeated));
    }
}
