//! The classic limits of this process: open files, locked memory, file size.

use super::super::finding::Finding;
use super::super::scene::Scene;
use fathom_record::origin::bytes_words;

const SOURCE: &str = "/proc/self/limits";

/// The default of most systems is 1024, which filesets of some thousand open files exceed.
const FEW_FILES: u64 = 1024;
/// Registered io_uring buffers and locked ones count against it: 256 requests of 64 KiB.
const LITTLE_LOCKED_BYTES: u64 = 16 << 20;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    [files(scene), locked(scene), size(scene)].into_iter().flatten().collect()
}

/// The soft limit; an inner `None` means unlimited.
fn soft(scene: &Scene, name: &str) -> Option<Option<u64>> {
    Some(scene.known(&format!("limits.ulimits.{name}.soft"))?.as_u64())
}

fn files(scene: &Scene) -> Option<Finding> {
    Some(match soft(scene, "max_open_files")? {
        Some(n) if n <= FEW_FILES => Finding::notice(
            "open-files",
            SOURCE,
            format!("This process may have {n} files open: filesets kept open must be smaller."),
        )
        .figure("limit", n as f64, "files")
        .remedy("Raise the limit")
        .command("ulimit -n 65536"),
        Some(n) => Finding::good("open-files", SOURCE, format!("This process may have {n} files open.")),
        None => Finding::good("open-files", SOURCE, "Open files are not limited."),
    })
}

/// The locked-memory limit does not apply to root.
fn locked(scene: &Scene) -> Option<Finding> {
    let limit = soft(scene, "max_locked_memory")?;
    Some(match limit {
        Some(n) if n < LITTLE_LOCKED_BYTES && scene.uid != Some(0) => Finding::notice(
            "locked-memory",
            SOURCE,
            format!("This process may lock {} of memory: registered buffers of io_uring at great depths do not fit.", bytes_words(n)),
        )
        .figure("limit", n as f64, "bytes")
        .remedy("Raise the limit (limits.conf, memlock)")
        .command("ulimit -l unlimited"),
        Some(n) => Finding::good("locked-memory", SOURCE, format!("The locked-memory limit is {}.", bytes_words(n))),
        None => Finding::good("locked-memory", SOURCE, "Locked memory is not limited."),
    })
}

fn size(scene: &Scene) -> Option<Finding> {
    Some(match soft(scene, "max_file_size")? {
        Some(n) => Finding::warning(
            "file-size",
            SOURCE,
            format!(
                "This process may write files of {} at most: larger ones end with SIGXFSZ.",
                bytes_words(n)
            ),
        )
        .figure("limit", n as f64, "bytes")
        .remedy("Lift the limit")
        .command("ulimit -f unlimited"),
        None => Finding::good("file-size", SOURCE, "The size of files is not limited."),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};
    use crate::fake::Fake;

    fn with(line: &str) -> Fake {
        machine().file(
            "/proc/self/limits",
            &format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n{line}\n"
            ),
        )
    }

    #[test]
    fn small_limits_are_told() {
        let _ = says(
            &with("Max open files            1024                 4096                 files     "),
            "open-files",
            Severity::Notice,
            &["1024"],
        );
        let _ = says(
            &with("Max file size             1048576              unlimited            bytes     "),
            "file-size",
            Severity::Warning,
            &["1 MiB"],
        );
    }

    #[test]
    fn roots_locked_memory_is_free() {
        let line = "Max locked memory         8388608              8388608              bytes     ";
        let _ = says(&with(line), "locked-memory", Severity::Good, &[]);
        let user = with(line).file("/proc/self/status", "Uid:\t65534\t65534\t65534\t65534\n");
        let _ = says(&user, "locked-memory", Severity::Notice, &["8 MiB"]);
    }
}
