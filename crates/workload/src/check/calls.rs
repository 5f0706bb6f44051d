//! Checks streams whose operations move no data (file calls, computing), and streams that run until the file system is full.

use crate::{
    Access, Amount, Backend, Bytes, Direction, FileCall, Files, Lock, OpenSync, Record, Stream, Verify,
    Workload,
};

pub(super) fn errors(warms_up: bool, stream: &Stream) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    let mut wrong = |is: bool, text: &str| {
        if is {
            errors.push(text.into());
        }
    };
    if stream.until_full {
        wrong(
            stream.direction == Direction::Read || !stream.backend.moves_data(),
            "until_full ends a stream at the first write without space, but the stream writes nothing",
        );
        wrong(
            matches!(stream.backend, Backend::Mmap { .. }),
            "until_full: a mapped write without space kills the process; use another back-end",
        );
    }
    wrong(
        stream.beside.is_some() != (stream.backend == Backend::Beside),
        "the back-end beside and beside = { program = ... } need each other: set both, or neither",
    );
    wrong(
        stream.donor.is_some() != (stream.backend == Backend::Calls(FileCall::MoveExtents)),
        "calls = \"move-extents\" (moves blocks from a donor file) and donor = { fileset = ... } need each other: set both, or neither",
    );
    wrong(stream.beside.as_ref().is_some_and(|of| of.program.is_empty()), "beside.program is empty");
    if stream.backend.moves_data() || stream.backend == Backend::Null {
        return errors;
    }
    wrong(
        stream.verify != Verify::No,
        "the back-ends calls, compute and beside move no data; leave verify out",
    );
    wrong(
        stream.warm_first_record || stream.disturb_every > 0,
        "warm_first_record and disturb_every read data; the back-ends calls, compute and beside do not",
    );
    wrong(
        matches!(stream.backend, Backend::Calls(call) if call.is_once()) && warms_up,
        "a name can be created or removed only once, and a ramp would do so uncounted; leave the ramp out",
    );
    let one_open_file = matches!(stream.backend, Backend::Calls(call) if !call.is_by_name());
    wrong(
        !one_open_file && !matches!(stream.direction, Direction::Read | Direction::Write | Direction::Mix(_)),
        "operations on names, and those that compute or wait, need direction = read or write",
    );
    match stream.backend {
        Backend::Compute(compute) => {
            wrong(compute.time.0 == 0, "the back-end compute needs a time above 0");
            wrong(no_file(stream), "the back-end compute has no file to open, lock or sync");
        }
        Backend::Beside => {
            wrong(no_file(stream), "the back-end beside has no file to open, lock or sync");
        }
        Backend::Calls(call) if call.is_by_name() => by_name(stream, call, &mut wrong),
        Backend::Calls(FileCall::Truncate) => {
            wrong(stream.direction != Direction::Write, "calls = \"truncate\" needs direction = \"write\"")
        }
        Backend::Calls(FileCall::MoveExtents) => wrong(
            stream.direction != Direction::Write,
            "calls = \"move-extents\" needs direction = \"write\"",
        ),
        _ => {}
    }
    errors
}

/// Error in the file set of a stream's donor, if any.
pub(super) fn donor_error(workload: &Workload, stream: &Stream) -> Option<String> {
    let name = &stream.donor.as_ref()?.fileset;
    let Some(set) = workload.fileset(name) else {
        return Some(format!("donor: no file set is named {name:?}"));
    };
    if matches!(set.files, Files::Tree(_)) || set.files.count() != 1 {
        return Some(format!("donor: the file set {name:?} must be a single file, not a tree"));
    }
    (*name == stream.fileset)
        .then(|| format!("donor: {name:?} is the stream's own file set; name another one"))
}

/// Whether it uses a feature that needs an open file.
fn no_file(stream: &Stream) -> bool {
    stream.lock != Lock::No
        || stream.open.sync != OpenSync::No
        || stream.sync_before
        || stream.sync_after
        || stream.timed.fsync
        || stream.sync_every.is_some()
        || stream.sync_series.is_some()
        || stream.pace.burst.is_some()
}

/// Checks calls on names: one operation per file.
fn by_name(stream: &Stream, call: FileCall, wrong: &mut impl FnMut(bool, &str)) {
    wrong(
        no_file(stream),
        "the calls create, stat, remove, make-directory and remove-directory work on names: there is no open file to lock or sync",
    );
    let record = match stream.record {
        Record::Fixed(record) => Some(record),
        _ => None,
    };
    wrong(
        stream.start != Bytes(0) || record.is_none() || stream.length != record,
        "the calls create, stat, remove, make-directory and remove-directory are made once per file: set start = 0, and length = the (fixed) record size",
    );
    wrong(
        matches!(stream.access, Access::Listed(_)),
        "the calls create, stat, remove, make-directory and remove-directory are made once per file; they cannot be combined with a list of operations",
    );
    let once = matches!(stream.amount, Amount::Pass | Amount::Passes(1) | Amount::Operations(_));
    wrong(
        call.is_once() && !once,
        "a file can be removed only once, and a directory made or removed only once: such calls need the amount pass, or at most as many operations as files",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compute, Donor, Duration, StatCall, SyncEvery};

    fn calls(call: FileCall) -> Stream {
        let donor = Donor { fileset: "d".into(), each: false };
        Stream {
            donor: (call == FileCall::MoveExtents).then_some(donor),
            backend: Backend::Calls(call),
            length: Some(Bytes(4096)),
            ..Stream::new("f", Direction::Write, Bytes(4096))
        }
    }

    fn first(stream: &Stream) -> String {
        errors(false, stream).first().cloned().unwrap_or_default()
    }

    #[test]
    fn calls_that_make_sense_pass() {
        for call in [
            FileCall::Allocate,
            FileCall::Truncate,
            FileCall::MoveExtents,
            FileCall::Create,
            FileCall::Stat(StatCall::Lstat),
            FileCall::Remove,
            FileCall::MakeDirectory,
            FileCall::RemoveDirectory,
        ] {
            assert_eq!(first(&calls(call)), "", "{call:?}");
        }
        let compute = Backend::Compute(Compute { time: Duration(1000), sort: true });
        assert_eq!(first(&Stream { backend: compute, ..calls(FileCall::Create) }), "");
        assert_eq!(first(&Stream { until_full: true, ..Stream::new("f", Direction::Write, Bytes(1)) }), "");
    }

    #[test]
    fn impossible_options_of_calls_are_refused() {
        let reads = Stream { direction: Direction::Read, ..calls(FileCall::Truncate) };
        assert!(first(&reads).contains("calls = \"truncate\" needs direction"));
        let reads = Stream { direction: Direction::Read, ..calls(FileCall::MoveExtents) };
        assert!(first(&reads).contains("calls = \"move-extents\" needs direction"));
        let alone = Stream { donor: None, ..calls(FileCall::MoveExtents) };
        assert!(first(&alone).contains("need each other"));
        let given = Stream { donor: calls(FileCall::MoveExtents).donor, ..calls(FileCall::Allocate) };
        assert!(first(&given).contains("need each other"));
        let half = Stream { length: None, ..calls(FileCall::Create) };
        assert!(first(&half).contains("once per file"));
        for call in [FileCall::Remove, FileCall::MakeDirectory, FileCall::RemoveDirectory] {
            let again = Stream { amount: Amount::Passes(2), ..calls(call) };
            assert!(first(&again).contains("removed only once"), "{call:?}");
        }
        let synced =
            Stream { sync_every: Some(SyncEvery::default()), ..calls(FileCall::Stat(StatCall::Stat)) };
        assert!(first(&synced).contains("work on names"));
        let checked = Stream { verify: Verify::Full, ..calls(FileCall::Allocate) };
        assert!(first(&checked).contains("leave verify out"));
        assert!(errors(true, &calls(FileCall::Remove))[0].contains("ramp"));
        let idle = Backend::Compute(Compute { time: Duration(0), sort: false });
        assert!(first(&Stream { backend: idle, ..calls(FileCall::Create) }).contains("a time above 0"));
        let alone = Stream { backend: Backend::Beside, ..calls(FileCall::Create) };
        assert!(first(&alone).contains("need each other"));
        let full = Stream { until_full: true, ..Stream::new("f", Direction::Read, Bytes(1)) };
        assert!(first(&full).contains("writes nothing"));
    }

    #[test]
    fn a_donor_is_another_file_and_a_single_one() {
        let set = |name: &str, count: u32| {
            format!(
                "[[fileset]]\nname = '{name}'\nfiles = {{ numbered = {{ prefix = '{name}', count = {count} }} }}\nsize = {{ fixed = '4KiB' }}\n"
            )
        };
        let text = format!("name = 't'\n{}{}{}", set("f", 1), set("d", 1), set("two", 2));
        let workload = Workload::from_toml(&text).unwrap();
        let from = |name: &str| {
            let donor = Some(Donor { fileset: name.into(), each: true });
            donor_error(&workload, &Stream { donor, ..calls(FileCall::MoveExtents) }).unwrap_or_default()
        };
        assert_eq!(from("d"), "");
        assert!(from("f").contains("own file set"));
        assert!(from("two").contains("a single file"));
        assert!(from("none").contains("no file set is named"));
    }
}
