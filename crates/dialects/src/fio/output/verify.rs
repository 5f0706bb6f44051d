//! fio's messages about a block that failed verification, and the data that `verify_dump` saves.

use super::super::plan::{Job, JobPlace, Plan};
use fathom_record::{Ending, OpError, Run, Worker};
use fathom_workload::{Access, Data, Record, Sealed, Sum};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug)]
struct Found<'a> {
    job: &'a Job,
    sealed: &'a Sealed,
    /// Start of the verified part of the file, from which blocks are counted.
    start: u64,
    /// Start of the verified block.
    offset: u64,
}

/// Several jobs may share a file: the failed worker determines the job.
fn found<'a>(plan: &'a Plan, run: &Run, error: &OpError) -> Option<Found<'a>> {
    let at = error.offset.filter(|_| error.call == "verify")?;
    let path = Path::new(&error.path);
    let failed = worker(run, error);
    let has_it = |job: &&Job| match failed {
        Some((phase, worker)) => {
            let of_it = |place: &JobPlace| {
                place.phase == phase && worker.checked_sub(place.worker).is_some_and(|n| n < job.clones)
            };
            job.places.iter().any(of_it)
        }
        None => job.verifies() && job.files.iter().flatten().any(|file| path.ends_with(file)),
    };
    plan.jobs.iter().filter(has_it).find_map(|job| {
        let Data::Sealed(sealed) = &job.stream.data else { return None };
        let start = start(job, failed).min(at);
        Some(Found { job, sealed, start, offset: at - (at - start) % sealed.block.0.max(1) })
    })
}

/// Start of a clone's part, given the worker. Lists contain their own offsets.
fn start(job: &Job, failed: Option<(u32, u32)>) -> u64 {
    if matches!(job.stream.access, Access::Listed(_)) {
        return 0;
    }
    let clone = failed.and_then(|(phase, worker)| {
        let place = job.places.iter().find(|place| place.phase == phase)?;
        worker.checked_sub(place.worker)
    });
    let part = job.parts.get(clone.unwrap_or(0) as usize);
    part.map_or(0, |part| part.start)
}

/// Phase and number of the worker that failed with this error.
pub(super) fn worker(run: &Run, error: &OpError) -> Option<(u32, u32)> {
    let failed = |worker: &&Worker| matches!(&worker.ending, Ending::Failed(why) if why == error);
    run.phases.iter().find_map(|phase| {
        let mut workers = phase.repetitions.iter().flat_map(|repetition| &repetition.workers);
        workers.find(failed).map(|worker| (phase.seq, worker.index))
    })
}

/// fio's lines for an error, if it is failed verification.
#[must_use]
pub fn lines(plan: &Plan, run: &Run, error: &OpError) -> Option<String> {
    let Found { job, sealed, start, offset } = found(plan, run, error)?;
    let family = crate::fio::plan::verify_family(&job.settings);
    let (block, record) = (sealed.block.0, job.stream.record.unit().0.max(1));
    let mut out = String::new();
    let digits = sealed.sum.map_or(0, |sum| match sum {
        Sum::Meta | Sum::Pattern => 0,
        // The record holds only part of longer checksums.
        sum if sum.area() <= 8 => sum.area() as usize * 2,
        _ => 0,
    });
    let compared = error.compared.filter(|_| error.message.contains("checksum"));
    if let (None, Some((expected, got))) = (sealed.sum, error.compared) {
        let bits = (expected ^ got).count_ones();
        let _ = writeln!(out, "fio: got pattern '{got:02x}', wanted '{expected:02x}'. Bad bits {bits}");
        let _ = writeln!(out, "fio: bad pattern block offset {}", error.offset.unwrap_or(0) - offset);
    }
    let _ = writeln!(
        out,
        "{family}: verify failed at file {} offset {offset}, length {block} (requested block: offset={}, length={record}, flags=8)",
        error.path,
        offset - (offset - start) % record,
    );
    if let Some((calculated, stored)) = compared.filter(|_| digits > 0) {
        let _ = writeln!(out, "       Expected CRC: {stored:0digits$x}");
        let _ = writeln!(out, "       Received CRC: {calculated:0digits$x}");
    }
    Some(out)
}

/// Data to save about a wrong block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// File with the block.
    pub file: PathBuf,
    /// Offset of the block in the file.
    pub offset: u64,
    /// Length of the block in bytes.
    pub bytes: u64,
    /// Where to save the data found there.
    pub received: PathBuf,
    /// Where to save the expected data, and that data, if known.
    pub expected: Option<(PathBuf, Vec<u8>)>,
}

/// What `verify_dump` saves; `None` if not requested.
#[must_use]
pub fn dump(plan: &Plan, run: &Run, error: &OpError) -> Option<Dump> {
    let Found { job, sealed, offset, start } = found(plan, run, error)?;
    if !job.settings.on("verify_dump", false) {
        return None;
    }
    let named = |what: &str| PathBuf::from(format!("{}.{offset}.{what}", error.path));
    // A pattern that spans the record depends on the record's start, known only for fixed record sizes in one region.
    let in_order =
        matches!(job.stream.record, Record::Fixed(_)) && !matches!(job.stream.access, Access::Listed(_));
    let known = sealed.anew_every.0 == 0 || in_order;
    let record = job.stream.record.unit().0.max(1);
    let expected = (sealed.sum.is_none() && known).then(|| {
        let mut block = vec![0; usize::try_from(sealed.block.0).unwrap_or(0)];
        sealed.fill(&mut block, offset, (offset - start) % record);
        (named("expected"), block)
    });
    let (file, bytes) = (PathBuf::from(&error.path), sealed.block.0);
    Some(Dump { file, offset, bytes, received: named("received"), expected })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::planned;
    use super::*;

    fn error(offset: u64, message: &str, compared: (u64, u64)) -> OpError {
        OpError {
            call: "verify".into(),
            path: "F".into(),
            offset: Some(offset),
            compared: Some(compared),
            message: message.into(),
            ..OpError::default()
        }
    }

    #[test]
    fn a_wrong_checksum_is_reported_as_by_fio() {
        let plan = planned("--name=r --filename=F --size=4m --bs=4k --verify=crc32c --verify_dump=1");
        let wrong = error(8192, "does not match its checksum", (0x2259_7e9e, 0x047e_8587));
        // fio 3.33, word for word.
        let expected = "crc32c: verify failed at file F offset 8192, length 4096 (requested block: offset=8192, length=4096, flags=8)\n       Expected CRC: 047e8587\n       Received CRC: 22597e9e\n";
        assert_eq!(lines(&plan, &Run::default(), &wrong).unwrap(), expected);
        let dump = dump(&plan, &Run::default(), &wrong).unwrap();
        assert_eq!((dump.offset, dump.bytes, dump.expected), (8192, 4096, None));
        assert_eq!(dump.received, Path::new("F.8192.received"));
        assert_eq!(lines(&plan, &Run::default(), &OpError { call: "read".into(), ..wrong }), None);
    }

    #[test]
    fn blocks_are_counted_from_where_a_clone_begins() {
        let line =
            "--name=r --filename=F --size=4m --bs=4k --offset=1000 --verify=pattern --verify_pattern=0xab";
        let wrong = error(1000 + 3 * 4096 + 5, "holds wrong data", (0xab, 0));
        let text = lines(&planned(line), &Run::default(), &wrong).unwrap();
        assert!(text.contains("bad pattern block offset 5\n"), "{text}");
        assert!(
            text.contains("F offset 13288, length 4096 (requested block: offset=13288, length=4096"),
            "{text}"
        );
    }

    #[test]
    fn of_a_pattern_what_was_expected_is_known() {
        let plan = planned(
            "--name=r --filename=F --size=64k --verify=pattern --verify_pattern=0xdeadbeef --verify_dump=1",
        );
        let wrong = error(9000, "holds wrong data", (0xde, 0x58));
        let text = lines(&plan, &Run::default(), &wrong).unwrap();
        assert!(
            text.starts_with(
                "fio: got pattern '58', wanted 'de'. Bad bits 3\nfio: bad pattern block offset 808\n"
            ),
            "{text}"
        );
        assert!(text.contains("pattern: verify failed at file F offset 8192, length 4096"), "{text}");
        let (path, block) = dump(&plan, &Run::default(), &wrong).unwrap().expected.unwrap();
        assert_eq!(
            (path.as_path(), &block[..5]),
            (Path::new("F.8192.expected"), &[0xde, 0xad, 0xbe, 0xef, 0xde][..])
        );
    }
}
