//! Files that an earlier job lays out: to a later one without a size of its own they are there, and as large as they will be, as in fio.

use super::super::settings::Settings;
use super::super::{Found, Wrong};
use super::Job;
use super::files::Make;
use std::path::Path;

/// What is at a path when all jobs before have laid out their files, if `now` is what is there at present.
pub(super) fn found(before: &[Job], path: &Path, now: Option<Found>) -> Option<Found> {
    let made = before.iter().filter(|job| lays_out(job)).filter_map(|job| size_of(job, path)).max();
    match (now, made) {
        (Some(now), Some(bytes)) if !now.device && !now.bottomless => {
            Some(Found { bytes: now.bytes.max(bytes), ..now })
        }
        (None, Some(bytes)) => Some(Found { bytes, device: false, bottomless: false }),
        (now, _) => now,
    }
}

/// Whether the files of a job have their sizes before it starts.
fn lays_out(job: &Job) -> bool {
    matches!(job.ready.make, Make::Write | Make::Reserve | Make::Extend) && !job.stream.until_full
}

/// How large a job needs a file to be, if it works on it.
fn size_of(job: &Job, path: &Path) -> Option<u64> {
    let of_clone = |(clone, files): (usize, &Vec<std::path::PathBuf>)| {
        let at = files.iter().position(|file| file == path)?;
        let of_several = job.sizes.get(clone).and_then(|sizes| sizes.get(at)).copied();
        of_several.or_else(|| job.parts.get(clone).map(|part| part.file))
    };
    job.files.iter().enumerate().filter_map(of_clone).max()
}

/// What is wrong with the files of a job, told to who waits for a job that fills the device: how much that will be is not known yet.
pub(super) fn explained(wrong: Wrong, s: &Settings, before: &[Job]) -> Wrong {
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
        // A reader above knows nothing of what is made below it.
        assert!(
            refused("--filename=f --name=r --rw=read --name=w --rw=write --size=1m")
                .contains("you need to specify size=")
        );
        let wrong = refused(&format!("{write} --fill_device=1 --name=r --stonewall --rw=read"));
        assert!(wrong.contains("how much the job w will have written"), "{wrong}");
    }
}
