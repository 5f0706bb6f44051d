//! Free space, fill level and inodes. A nearly full file system has no long runs of free blocks, so new files are fragmented, and the
//! flash below it has little space for garbage collection.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::files::Space;
use crate::words::percent;
use fathom_record::origin::bytes_words;

const SOURCE: &str = "statvfs";

/// At this level no useful file can be laid out.
const FULL: f64 = 0.99;
/// Allocators of ext4, XFS and btrfs look for runs of free blocks nearby; in the last tenth they find mostly fragments, which is why ext4
/// reserves 5 % by default. At this level files of the same size differ in layout.
const NEARLY_FULL: f64 = 0.90;
/// Below that the effect appears only after long use, which cannot be seen here: reported as a notice, not a warning.
const FILLING: f64 = 0.80;
/// Too little for files that exceed the caches of devices and controllers.
const LITTLE_BYTES: u64 = 1 << 30;
/// ext4 reserves 5 % for root; much more was set by an administrator and is easily overlooked.
const MUCH_RESERVED: f64 = 0.20;
/// Running out of inodes is abrupt; a tenth is a margin for filesets of many small files.
const FEW_INODES: f64 = 0.10;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    match scene.files.space_of(&scene.path) {
        Ok(space) if space.total_bytes > 0 => {
            [Some(fill(scene, &space)), reserved(&space), inodes(&space)].into_iter().flatten().collect()
        }
        _ => vec![Finding::unknown("space", SOURCE, "the free space of the file system")],
    }
}

/// Used share of the space available to ordinary users, as `df` shows it.
fn fill(scene: &Scene, space: &Space) -> Finding {
    let usable = space.used_bytes.saturating_add(space.free_bytes).max(1);
    let level = space.used_bytes as f64 / usable as f64;
    let figures = format!(
        "{} of {} are free ({} full)",
        bytes_words(space.free_bytes),
        bytes_words(usable),
        percent(level)
    );
    let memory = scene.stack.method == "memory";
    let found = if space.free_bytes == 0 || level >= FULL {
        Finding::error(
            "space",
            SOURCE,
            format!("The file system is full: {figures}; nothing can be laid out here."),
        )
        .remedy("Free space or choose another directory; this shows what takes it")
        .command(format!("du -xh --max-depth=1 {} | sort -h", scene.mount_point()))
    } else if level >= NEARLY_FULL && !memory {
        Finding::warning(
            "space",
            SOURCE,
            format!("The file system is nearly full: {figures}; new files are fragmented, and flash has little free space for garbage collection."),
        )
        .remedy("Free a fifth of it, then lay the files out again")
        .command(format!("du -xh --max-depth=1 {} | sort -h", scene.mount_point()))
    } else if level >= FILLING && !memory {
        Finding::notice(
            "space",
            SOURCE,
            format!("The file system is filling: {figures}; measure at the same level when you compare."),
        )
        .remedy("Free some of it, or check the fragmentation of the files (`filefrag FILE`)")
    } else if space.free_bytes < LITTLE_BYTES {
        Finding::notice(
            "space",
            SOURCE,
            format!("There is room only for small files ({figures}), and files this small stay in caches."),
        )
        .remedy("Choose a larger file system, or use O_DIRECT")
    } else {
        Finding::good("space", SOURCE, format!("{figures}."))
    };
    found.figure("free", space.free_bytes as f64, "bytes").figure("fill level", level, "ratio")
}

fn reserved(space: &Space) -> Option<Finding> {
    let kept = space.total_bytes.saturating_sub(space.used_bytes).saturating_sub(space.free_bytes);
    let share = kept as f64 / space.total_bytes as f64;
    (share > MUCH_RESERVED).then(|| {
        Finding::notice(
            "space-reserved",
            SOURCE,
            format!(
                "{} of {} ({}) are reserved or unusable: an ordinary user's files may grow to {} only.",
                bytes_words(kept),
                bytes_words(space.total_bytes),
                percent(share),
                bytes_words(space.free_bytes)
            ),
        )
        .figure("reserved", kept as f64, "bytes")
    })
}

fn inodes(space: &Space) -> Option<Finding> {
    if space.files_total == 0 {
        return None;
    }
    let share = space.files_free as f64 / space.files_total as f64;
    let figures = format!("{} of {} inodes are free", space.files_free, space.files_total);
    let found = if space.files_free == 0 {
        Finding::error("inodes", SOURCE, format!("No file can be created: {figures}."))
            .remedy("Remove files, or create the file system again with more inodes (mkfs.ext4 -N)")
    } else if share < FEW_INODES {
        Finding::warning(
            "inodes",
            SOURCE,
            format!("Inodes run out: {figures}; filesets of many files will fail."),
        )
        .remedy("Remove files, or create the file system again with more inodes (mkfs.ext4 -N)")
    } else {
        Finding::good("inodes", SOURCE, format!("{figures}."))
    };
    Some(found.figure("free inodes", space.files_free as f64, "files"))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent, space};
    use crate::files::Space;

    #[test]
    fn levels_have_their_severity() {
        for (used, free, severity, words) in [
            (999, 1, Severity::Error, "nothing can be laid out"),
            (950, 50, Severity::Warning, "(95 % full)"),
            (850, 150, Severity::Notice, "filling"),
            (500, 500, Severity::Good, "500 GiB of 1000 GiB are free"),
        ] {
            let found = says(&machine().space(space(1000, used, free)), "space", severity, &[words]);
            assert_eq!(found.figures[0].value, (free << 30) as f64);
        }
    }

    #[test]
    fn what_is_reserved_is_no_fill_level() {
        let fake = machine().space(space(1000, 50, 450));
        let _ = says(&fake, "space", Severity::Good, &["(10 % full)"]);
        let _ =
            says(&fake, "space-reserved", Severity::Notice, &["500 GiB of 1000 GiB (50 %)", "450 GiB only"]);
        silent(&machine(), "space-reserved");
    }

    #[test]
    fn inodes_run_out() {
        let with = |files_free| machine().space(Space { files_free, ..space(1000, 10, 990) });
        let _ = says(&with(0), "inodes", Severity::Error, &["0 of 1000000"]);
        let _ = says(&with(50_000), "inodes", Severity::Warning, &["50000"]);
        silent(&machine().space(Space { files_total: 0, ..space(1000, 10, 990) }), "inodes");
    }

    #[test]
    fn a_small_file_system_is_said() {
        let mib =
            Space { total_bytes: 64 << 20, used_bytes: 4 << 20, free_bytes: 60 << 20, ..space(1, 0, 1) };
        let _ = says(&machine().space(mib), "space", Severity::Notice, &["60 MiB of 64 MiB"]);
    }
}
