//! Errors that do not end a job: `continue_on_error` names kinds, `ignore_error` lists error numbers by kind. As in fio 3.33, a kind
//! without a list means EIO (EILSEQ for verification); a list replaces these, and implies its kind.

use super::super::UsageError;
use super::super::settings::Settings;
use super::Notes;
use fathom_record::OpError;
use fathom_workload::{Amount, Backend, Direction, ErrorNumber, PassOver, Stream, Verify};

const KINDS: &str = "continue_on_error";
const LISTS: &str = "ignore_error";
const WRONG_DATA: ErrorNumber = ErrorNumber(84);

/// The kinds of errors that a job counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    reads: bool,
    writes: bool,
    checks: bool,
}

impl Counted {
    /// Whether it counts any kind.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Whether it counts this error, which ended the job.
    #[must_use]
    pub fn count(self, error: &OpError) -> bool {
        match error.call.as_str() {
            "read" => self.reads,
            "write" | "fsync" | "trim" | "fallocate" | "ftruncate" | "EXT4_IOC_MOVE_EXT" => self.writes,
            "verify" => self.checks,
            _ => false,
        }
    }
}

/// Applies the ignored errors to the stream, and returns which kinds are counted.
///
/// # Errors
/// Invalid lists, and options that cannot be combined with ignored errors.
pub(super) fn apply(
    s: &Settings,
    stream: &mut Stream,
    reads_back: bool,
    notes: &mut Notes,
) -> Result<Counted, UsageError> {
    let lists = lists(s)?;
    let counted = counted(s, &lists);
    if !counted.any() {
        return Ok(counted);
    }
    let checked = stream.verify != Verify::No || reads_back;
    if matches!(stream.backend, Backend::Mmap { .. }) && !(checked && counted.checks) {
        notes.say(format!(
            "job {}: with ioengine=mmap an error is a signal that ends the job, as in fio: continue_on_error changes nothing",
            s.job
        ));
        return Ok(counted);
    }
    let option = if lists.iter().all(Vec::is_empty) { KINDS } else { LISTS };
    refuse(s, option, stream)?;
    let [reads, writes, checks] = lists;
    let or = |kind: bool, list: Vec<ErrorNumber>, usual: ErrorNumber| match (kind, list.is_empty()) {
        (true, true) => vec![usual],
        _ => list,
    };
    // The job still ends at the first wrong block.
    let goes_on = !(checked && s.on("verify_fatal", false));
    let passed = PassOver {
        reads: or(counted.reads, reads, ErrorNumber::IO),
        writes: or(counted.writes, writes, ErrorNumber::IO),
        wrong_data: goes_on && or(counted.checks, checks, WRONG_DATA).contains(&WRONG_DATA),
        enough: match (stream.amount, enough(s)?) {
            (Amount::Endless, _) | (_, None) => 0,
            // The limit counts blocks, each of which is trimmed and written.
            (_, Some(n)) if stream.direction == Direction::TrimWrite => n.saturating_mul(2),
            (_, Some(n)) => n,
        },
    };
    if stream.until_full && passed.writes.contains(&ErrorNumber::NO_SPACE) {
        return Err(s
            .wrong("fill_device", "fill_device ends the job at ENOSPC, which ignore_error has it pass over")
            .hint("one of the two"));
    }
    stream.pass_over = passed;
    Ok(counted)
}

fn counted(s: &Settings, lists: &[Vec<ErrorNumber>; 3]) -> Counted {
    let named = s.word(KINDS).unwrap_or("none");
    let with = |words: &[&str]| words.contains(&named);
    Counted {
        reads: with(&["read", "io", "all", "1"]) || !lists[0].is_empty(),
        writes: with(&["write", "io", "all", "1"]) || !lists[1].is_empty(),
        checks: with(&["verify", "all", "1"]) || !lists[2].is_empty(),
    }
}

/// `number_ios` as a limit on operations that a job begins. See [`enough`].
pub(super) fn most(s: &Settings) -> Result<Option<u64>, UsageError> {
    Ok(if enough(s)?.is_some() { None } else { s.number("number_ios")?.filter(|n| *n > 0) })
}

/// `number_ios` over all loops, as the number of operations that must succeed, for jobs that continue after errors, as in fio 3.42.
/// `None` (attempts count) if only verification errors are ignored, with `verify_only`, and with mmap.
fn enough(s: &Settings) -> Result<Option<u64>, UsageError> {
    let counted = counted(s, &lists(s)?);
    let never_done = s.on("verify_only", false);
    let in_memory = s.word("ioengine") == Some("mmap");
    if !(counted.reads || counted.writes) || never_done || in_memory {
        return Ok(None);
    }
    let loops = s.number("loops")?.unwrap_or(1).max(1);
    Ok(s.number("number_ios")?.filter(|n| *n > 0).map(|n| n.saturating_mul(loops)))
}

/// Refuses what cannot continue after an error.
fn refuse(s: &Settings, option: &'static str, stream: &Stream) -> Result<(), UsageError> {
    use fathom_workload::Backend::{Mmap, Splice, Stdio};
    if matches!(stream.backend, Mmap { .. } | Splice | Stdio { .. }) {
        let engine = s.word("ioengine").unwrap_or_default();
        return Err(s
            .wrong(option, format!("{option}: with ioengine={engine} nothing goes on behind an error"))
            .hint("psync, pvsync2, libaio, io_uring or posixaio"));
    }
    if s.on("error_dump", false) {
        return Err(s
            .wrong(
                "error_dump",
                "error_dump: of ignored errors, only the number and the first one are reported",
            )
            .hint("error_dump=0"));
    }
    Ok(())
}

/// The lists for reads, writes and verification.
fn lists(s: &Settings) -> Result<[Vec<ErrorNumber>; 3], UsageError> {
    let mut lists: [Vec<ErrorNumber>; 3] = Default::default();
    let Some(text) = s.text(LISTS) else { return Ok(lists) };
    let wrong = |message: String, fio: String| {
        s.wrong(LISTS, message).fio(format!("{fio}\nfio: failed parsing ignore_error={text}\n"))
    };
    for (at, list) in text.trim().split(',').enumerate() {
        let Some(slot) = lists.get_mut(at) else {
            return Err(wrong(
                format!("{LISTS}={text}: there are three lists, of reads, writes and checks"),
                "Illegal error type".into(),
            ));
        };
        for name in list.trim().split(':').filter(|_| !list.trim().is_empty()) {
            let name = name.trim();
            let Some(error) = ErrorNumber::of(name) else {
                return Err(wrong(
                    format!("{LISTS}={text}: {name:?} is neither the name nor the number of an error"),
                    format!("Unknown error {name}, please use number value"),
                ));
            };
            slot.push(error);
        }
    }
    Ok(lists)
}

/// Restricts a stream to errors it can have: the writing phase verifies nothing, the read-back phase does not write.
pub fn fit(stream: &mut Stream) {
    let reads = stream.direction.reads() || stream.keep_written.is_some() || stream.written_by.is_some();
    if !reads {
        stream.pass_over.reads.clear();
    }
    if !stream.changes_files() && stream.sync_every.is_none() {
        stream.pass_over.writes.clear();
    }
    stream.pass_over.wrong_data &= stream.verify != Verify::No;
}
