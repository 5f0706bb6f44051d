//! Kernel threads that work on memory during a measurement: DAMON, which evicts idle pages from the page cache, and KSM, which searches
//! for identical pages.

use super::super::finding::Finding;
use super::super::scene::Scene;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    damon(scene).into_iter().chain(ksm(scene)).collect()
}

/// The parameter shows whether DAMON_RECLAIM is on; other uses of DAMON are visible as its thread.
fn damon(scene: &Scene) -> Option<Finding> {
    let parameter = "/sys/module/damon_reclaim/parameters/enabled";
    let programs = scene.programs();
    let thread = programs.iter().find(|(_, name)| name.starts_with("kdamond"));
    let enabled = scene.known("vm.damon_reclaim").and_then(serde_json::Value::as_bool) == Some(true);
    let (source, what) = match (thread, enabled) {
        (Some((pid, name)), _) => {
            (format!("/proc/{pid}/comm"), format!("DAMON watches memory here (kernel thread {name}, {pid})"))
        }
        (None, true) => (parameter.into(), "DAMON reclaims idle pages here".into()),
        (None, false) if programs.is_empty() => return None,
        (None, false) => {
            return Some(Finding::good("reclaim", "/proc/*/comm", "No DAMON thread watches memory."));
        }
    };
    Some(
        Finding::notice("reclaim", &source, format!("{what}: it may evict idle file pages, so a warm cache cools by itself."))
            .remedy("Measure warm reads shortly after reading the files; fathom checks residency before each repetition"),
    )
}

fn ksm(scene: &Scene) -> Option<Finding> {
    let source = "/sys/kernel/mm/ksm/run";
    Some(match scene.text(source)?.as_str() {
        "1" => Finding::notice(
            "ksm",
            source,
            "KSM is searching for equal pages: it takes processor time and memory bandwidth.",
        )
        .remedy("Stop it while measuring")
        .command(format!("echo 0 > {source}")),
        _ => Finding::good("ksm", source, "KSM is not running."),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn damon_shows_by_its_thread_or_its_parameter() {
        let _ = says(
            &machine().file("/proc/77/comm", "kdamond.0\n"),
            "reclaim",
            Severity::Notice,
            &["kdamond.0, 77"],
        );
        let fake = machine().file("/sys/module/damon_reclaim/parameters/enabled", "Y\n");
        let _ = says(&fake, "reclaim", Severity::Notice, &["reclaims"]);
        let _ = says(&machine(), "reclaim", Severity::Good, &[]);
    }

    #[test]
    fn ksm_is_on_or_off() {
        let _ = says(&machine().file("/sys/kernel/mm/ksm/run", "1\n"), "ksm", Severity::Notice, &[]);
    }
}
