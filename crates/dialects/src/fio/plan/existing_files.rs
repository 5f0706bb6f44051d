//! Files laid out by an earlier job: a later job without its own size finds them with their final size, as in fio.

use super::super::settings::Settings;
use super::super::{FoundPath, UsageError};
use super::Job;
use super::job_files::Make;
use std::collections::HashMap;
use std::path::Path;

/// The files that jobs lay out, with their sizes.
pub(super) struct Made<'j>(HashMap<&'j Path, u64>);

impl<'j> Made<'j> {
    pub(super) fn by(before: &'j [Job]) -> Self {
        let mut sizes = HashMap::new();
        for (path, bytes) in before.iter().filter(|job| lays_out(job)).flat_map(files_of) {
            let largest = sizes.entry(path).or_insert(bytes);
            *largest = bytes.max(*largest);
        }
        Self(sizes)
    }

    /// What will be at a path once all are laid out, given what is there `now`.
    pub(super) fn found(&self, path: &Path, now: Option<FoundPath>) -> Option<FoundPath> {
        match (now, self.0.get(path).copied()) {
            (Some(now), Some(bytes)) if !now.device && !now.bottomless => {
                Some(FoundPath { bytes: now.bytes.max(bytes), ..now })
            }
            (None, Some(bytes)) => Some(FoundPath { bytes, device: false, bottomless: false }),
            (now, _) => now,
        }
    }
}

/// Whether the files of a job get their sizes before it starts.
fn lays_out(job: &Job) -> bool {
    matches!(job.ready.make, Make::Write | Make::Reserve | Make::Extend) && !job.stream.until_full
}

/// The files of a job, each with the size it needs.
fn files_of(job: &Job) -> impl Iterator<Item = (&Path, u64)> {
    job.files.iter().enumerate().flat_map(|(clone, files)| {
        let of_several = job.sizes.get(clone);
        let of_one = job.parts.get(clone).map(|part| part.file);
        let size = move |at| of_several.and_then(|sizes| sizes.get(at)).copied().or(of_one);
        files.iter().enumerate().filter_map(move |(at, file)| Some((file.as_path(), size(at)?)))
    })
}

/// Explains an error for a job that depends on one that fills the device, whose final size is unknown.
pub(super) fn explained(wrong: UsageError, s: &Settings, before: &[Job]) -> UsageError {
    let of_size = wrong.fio_says.contains("you need to specify size=");
    let filling = before.iter().rfind(|job| job.stream.until_full && of_size);
    match filling.filter(|_| s.last_of(&["size", "filesize"]).is_none()) {
        Some(job) => wrong.hint(format!(
            "size=1g, for example: how much the job {} will have written when its device is full is known only then",
            job.name
        )),
        None => wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};

    #[test]
    fn a_job_without_a_size_has_that_of_a_file_which_an_earlier_one_makes() {
        // fio 3.33.
        let part = |args: &str| planned(args).jobs[1].parts[0].length;
        assert_eq!(
            part("--filename=f --name=w --rw=write --size=1m --name=r --stonewall --rw=read"),
            1 << 20
        );
        assert_eq!(part("--filename=f --name=w --rw=read --size=64k --name=r --rw=read"), 64 << 10);
        assert_eq!(
            part("--filename=f --name=w --rw=write --size=1m --name=r --rw=read --size=50%"),
            512 << 10
        );
        assert_eq!(part("--filename=there --name=w --rw=read --size=2m --name=r --rw=read"), 2 << 20);
        assert_eq!(part("--filename=f --name=w --rw=write --size=1m --name=r --rw=read --size=8k"), 8 << 10);
        let two =
            "--name=w --filename=f:g --rw=write --filesize=1m --size=2m --name=r --filename=g --rw=read";
        assert_eq!(part(two), 1 << 20);
    }

    #[test]
    fn what_is_not_laid_out_has_no_size_yet() {
        let write = "--filename=f --name=w --rw=write";
        for args in
            ["--size=1m --create_on_open=1", "--size=1m --fallocate=none", "--size=1m --fallocate=keep"]
        {
            let wrong = refused(&format!("{write} {args} --name=r --rw=read"));
            assert!(wrong.contains("r: you need to specify size="), "{args}: {wrong}");
        }
        // A reader listed earlier does not know of files made by later jobs.
        assert!(
            refused("--filename=f --name=r --rw=read --name=w --rw=write --size=1m")
                .contains("you need to specify size=")
        );
        let wrong = refused(&format!("{write} --fill_device=1 --name=r --stonewall --rw=read"));
        assert!(wrong.contains("how much the job w will have written"), "{wrong}");
    }

    #[test]
    fn files_of_many_clones_are_found_in_one_look() {
        // Found by fuzzing: each clone of each job searched the clones of every earlier job, for minutes.
        let jobs =
            "--name=a --name=b --name=c --name=d --name=e".replace("--name", "--rw=read --size=1m --name");
        let plan = planned(&format!("--filename=f --numjobs=4096 {jobs} --size=2m"));
        assert_eq!(plan.jobs.iter().map(|job| job.parts.len()).sum::<usize>(), 5 * 4096);
        assert_eq!(plan.jobs[4].parts[4095].length, 2 << 20);
    }
}
