//! `sync_file_range`: starts write-back of new data after a number of writes.

use super::super::settings::Settings;
use super::super::{UsageError, lenient_number};
use super::Notes;
use fathom_workload::{Backend, Stream, SyncEvery, SyncRange};

const NAME: &str = "sync_file_range";

/// Applies the option; fsync and fdatasync are read before.
pub fn apply(s: &Settings, stream: &mut Stream, notes: &mut Notes) -> Result<(), UsageError> {
    let Some(text) = s.text(NAME) else { return Ok(()) };
    let parsed = parse(text, s.kb_base_of(NAME)).map_err(|why| s.wrong(NAME, format!("{NAME}: {why}")));
    let (range, writes) = parsed?;
    if writes == 0 {
        return Ok(());
    }
    if stream.sync_every.is_some() {
        return Err(s
            .wrong(NAME, "sync_file_range with fsync or fdatasync is not supported")
            .hint("instead: one of them"));
    }
    if s.text("write_iolog").is_some() {
        return Err(s
            .wrong(NAME, "sync_file_range with write_iolog is not supported")
            .hint("instead: fdatasync, which a log can hold"));
    }
    let mut every = SyncEvery { writes, between: true, ..SyncEvery::default() };
    let other = match stream.backend {
        Backend::Psync(_) | Backend::Pvsync2(_) | Backend::Splice => {
            every.range = Some(range);
            None
        }
        Backend::Uring(_) => Some("an fsync; fio 3.42 fails there with EINVAL"),
        Backend::Nvme(_) => Some("a flush command"),
        Backend::Aio { .. } | Backend::Posix => Some("an fsync, as in fio 3.42"),
        Backend::Mmap { .. } => Some("an msync of the file, as in fio 3.42"),
        _ => Some("nothing that is called, as in fio 3.42"),
    };
    if let Some(other) = other {
        notes.say(format!("{NAME}: with this engine it is {other}"));
    }
    stream.sync_every = Some(every);
    Ok(())
}

/// `wait_before,write,wait_after:N`. N defaults to 1, and words between commas may be missing, as in fio.
fn parse(text: &str, kb_base: u64) -> Result<(SyncRange, u64), String> {
    let (words, number) = text.split_once(':').unwrap_or((text, "1"));
    let mut range = SyncRange::default();
    for word in words.split(',').map(str::trim) {
        match word {
            "wait_before" => range.wait_before = true,
            "write" => range.write = true,
            "wait_after" => range.wait_after = true,
            "" => {}
            _ => return Err(format!("{word:?} is not wait_before, write or wait_after")),
        }
    }
    if range == SyncRange::default() {
        return Err(
            "wait_before, write or wait_after is expected, and after a colon a number of writes".into()
        );
    }
    Ok((range, lenient_number::bytes(number.trim(), kb_base)?))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;
    use fathom_workload::Program;

    fn every(args: &str) -> Option<SyncEvery> {
        let plan = planned(&format!("--name=a --size=1m --rw=write {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => stream.sync_every,
            Program::Flow(_) => panic!("fio has streams"),
        }
    }

    #[test]
    fn what_is_written_back_and_when() {
        let all = SyncRange { wait_before: true, write: true, wait_after: true };
        let write = SyncRange { write: true, ..SyncRange::default() };
        for (value, range, writes) in [
            ("write:8", write, 8),
            ("write", write, 1),
            ("write,:2", write, 2),
            ("wait_before,write,wait_after:8", all, 8),
        ] {
            let sync = every(&format!("--sync_file_range={value}")).unwrap();
            assert_eq!((sync.range, sync.writes, sync.between), (Some(range), writes, true), "{value}");
        }
        assert_eq!(every("--sync_file_range=write:0"), None);
        assert_eq!(every("--sync_file_range=write:8 --rw=read"), None);
    }

    #[test]
    fn other_engines_do_what_they_do_in_fio() {
        for engine in ["libaio", "posixaio", "io_uring", "mmap", "null"] {
            let sync = every(&format!("--sync_file_range=write:8 --ioengine={engine}")).unwrap();
            assert_eq!((sync.range, sync.writes), (None, 8), "{engine}");
        }
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (more, words) in [
            ("--sync_file_range=foo:8", "\"foo\" is not wait_before"),
            ("--sync_file_range=:8", "is expected"),
            ("--sync_file_range=write:x", "sync_file_range"),
            ("--sync_file_range=write:8 --fsync=8", "fsync or fdatasync"),
            ("--sync_file_range=write:8 --write_iolog=x", "write_iolog"),
        ] {
            let said = refused(&format!("--name=a --size=1m --rw=write {more}"));
            assert!(said.contains(words), "{more}: {said}");
        }
    }
}
