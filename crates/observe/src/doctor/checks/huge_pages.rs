//! Transparent huge pages: with "always" a buffer may be made of huge pages in one run and not in the next.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "huge-pages";
const SOURCE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(mode) = scene.word("memory.transparent_huge_pages") else { return Vec::new() };
    vec![if mode == "always" {
        Finding::notice(CODE, SOURCE, "Transparent huge pages are always on: whether buffers and mapped tmpfs files get them depends on memory fragmentation, and the kernel collapses pages in the background.")
            .remedy("Use them only where programs request them")
            .command(format!("echo madvise > {SOURCE}"))
    } else {
        Finding::good(CODE, SOURCE, format!("Transparent huge pages: {mode}."))
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn always_is_noted() {
        let fake = machine().file("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
        let _ = says(&fake, "huge-pages", Severity::Notice, &[]);
        let _ = says(&machine(), "huge-pages", Severity::Good, &["madvise"]);
    }
}
