//! ioengine=e4defrag: swaps blocks of the job's files with those of a donor file.

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{UsageError, World};
use super::direction::Rw;
use super::job_files::JobFiles;
use super::names;
use fathom_workload::{Backend, FileCall, Stream};
use std::path::PathBuf;

const NAME: &str = "donorname";

/// The donor of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Donor {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes allocated to it.
    pub bytes: u64,
    /// Whether `bytes` is per operation.
    pub each: bool,
    /// Whether it may be a file that fathom did not create.
    pub foreign: bool,
}

/// The file call, for jobs that support it.
pub(super) fn call(s: &Settings, rw: Rw) -> Result<FileCall, UsageError> {
    if rw.reads() {
        return Err(s
            .wrong("ioengine", "e4defrag moves the blocks of each write, and fails reads, as in fio")
            .hint("rw=write, or rw=randwrite"));
    }
    Ok(FileCall::MoveExtents)
}

/// The donor's path and size. Syncs are not supported: fio's engine fails them.
pub(super) fn of(
    s: &Settings,
    stream: &Stream,
    laid: &JobFiles,
    general: &General,
    world: &World<'_>,
) -> Result<Option<Donor>, UsageError> {
    if stream.backend != Backend::Calls(FileCall::MoveExtents) {
        return Ok(None);
    }
    const FAILED: &str = "fio: io engine e4defrag init failed.\n";
    let Some(name) = s.text(NAME) else {
        return Err(s
            .wrong("ioengine", "e4defrag needs donorname, the file to take blocks from")
            .fio(format!("'donorname' options required\n{FAILED}"))
            .hint("donorname=donor, for example"));
    };
    let syncs = ["fsync", "fdatasync", "sync_file_range", "end_fsync", "end_syncfs", "fsync_on_close"];
    if let Some(name) = syncs.into_iter().find(|name| s.asks(name)) {
        return Err(s
            .wrong(name, "e4defrag moves blocks, and fails syncs, as in fio")
            .hint("leave it out of this job"));
    }
    let directory = s.text("directory").unwrap_or_default();
    if names::split(directory).len() > 1 {
        return Err(s
            .wrong(
                "directory",
                "e4defrag looks for its donor in the directory of the job, and several are given",
            )
            .hint("give one"));
    }
    let path = names::below(directory, name);
    let each = s.on("inplace", false);
    let bytes = match s.range("filesize")?.filter(|(_, most)| *most > 0) {
        Some((_, most)) => most,
        // It never needs more than one operation's worth.
        None if each => stream.record.largest().0,
        None => {
            return Err(s
                .wrong("filesize", "e4defrag allocates filesize bytes to its donor, and none is given")
                .fio(FAILED.to_owned())
                .hint("filesize=SIZE in place of size; or inplace=1"));
        }
    };
    if laid.files.iter().flatten().any(|file| names::same(file, &path)) {
        return Err(s
            .wrong(NAME, format!("{} is one of the job's own files, and cannot be its donor", path.display()))
            .hint("a different file name"));
    }
    let found = (world.find)(&path).filter(|_| !general.is_only_read());
    if found.is_some_and(|f| f.device || f.bottomless) {
        return Err(s.wrong(NAME, format!("{} is a device; a donor is a file", path.display())));
    }
    Ok(Some(Donor { foreign: names::may_write(general, world, &path), path, bytes, each }))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::super::job_files::Memory;
    use super::Donor;
    use fathom_workload::{Backend, Bytes, FileCall, Sizing};

    #[test]
    fn a_donor_is_a_separate_file_set() {
        let job = "--name=a --ioengine=e4defrag --rw=write --bs=16k";
        for (args, path, bytes, each) in [
            ("--donorname=d --filesize=64k", "d", 65_536, false),
            ("--donorname=d --filesize=64k-128k --nrfiles=2", "d", 131_072, false),
            ("--donorname=/d:e --filesize=64k --directory=x --inplace=0", "x/d:e", 65_536, false),
            ("--donorname=d --size=64k --inplace=1 --unlink=1 --direct=1 --iodepth=4", "d", 16_384, true),
        ] {
            let plan = planned(&format!("{job} {args}"));
            let wanted = Donor { path: path.into(), bytes, each, foreign: false };
            assert_eq!(plan.jobs[0].donor, Some(wanted), "{args}");
            let stream = &plan.jobs[0].stream;
            assert_eq!(stream.backend, Backend::Calls(FileCall::MoveExtents));
            // Cached blocks are busy and cannot be moved.
            assert_eq!(plan.jobs[0].ready.memory, Memory::Dropped, "{args}");
            let set = plan.workload.fileset(&stream.donor.as_ref().unwrap().fileset).unwrap();
            assert_eq!((&set.size, set.keep), (&Sizing::Fixed(Bytes(bytes)), true));
        }
        let given = planned(&format!("--allow-write=d {job} --donorname=d --size=64k --inplace=1"));
        assert!(given.jobs[0].donor.as_ref().unwrap().foreign && !given.jobs[0].ready.foreign);
    }

    #[test]
    fn what_cannot_be_a_donor_is_refused() {
        for (args, what) in [
            ("--filesize=64k --rw=write", "'donorname' options required"),
            ("--size=64k --rw=write --donorname=d", "allocates filesize bytes"),
            ("--filesize=64k --rw=read --donorname=d", "fails reads"),
            ("--filesize=64k --rw=randrw --donorname=d", "fails reads"),
            ("--filesize=64k --rw=trim --donorname=d", "gives nothing back"),
            ("--filesize=64k --rw=write --donorname=d --fsync=1", "fails syncs"),
            ("--filesize=64k --rw=write --donorname=d --end_fsync=1", "fails syncs"),
            ("--filesize=64k --rw=write --donorname=d --verify=md5", "verify"),
            ("--filesize=64k --rw=write --donorname=./f --filename=f", "own files"),
            ("--filesize=64k --rw=write --donorname=d --directory=x:y", "several are given"),
        ] {
            let wrong = refused(&format!("--name=a --ioengine=e4defrag {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
        assert!(refused("--name=a --size=64k --donorname=d").contains("is an option of e4defrag"));
    }
}
