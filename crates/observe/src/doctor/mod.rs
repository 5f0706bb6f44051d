//! What on this machine would spoil a measurement at a path, and how to fix it. Each check is a file of `checks` and covers one subject:
//! it reads the kernel's files through [`KernelFiles`], which tests replace, and returns findings. Nothing is opened for writing and
//! nothing is changed.
//!
//! A comment beside each threshold gives the reason for its value.

mod checks;
mod finding;
mod look;
mod scene;
#[cfg(test)]
mod testing;

pub use finding::{Figure, Finding, Severity, Subject};

use crate::device::stack_with;
use crate::environment::{capture_with, hypervisor_signature};
use crate::files::{KernelFiles, Live};
use look::{Look, Sample};
use scene::Scene;
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// Time between the two snapshots of the machine's counters. The kernel counts processor time in ticks of 10 ms, so a shorter sample
/// could not resolve one percent of two processors.
const SAMPLE: Duration = Duration::from_millis(700);

/// Result of examining a path.
#[derive(Clone, Debug, Serialize)]
pub struct Examination {
    /// The path, without symbolic links.
    pub path: String,
    /// Type of its file system.
    pub file_system: String,
    /// Mount point of that file system.
    pub mount_point: String,
    /// The block devices below, nearest first; may be empty.
    pub devices: Vec<String>,
    /// What is unknown about the devices, or why there is none.
    pub devices_note: Option<String>,
    /// Effective user id; `None` if the kernel does not report it.
    pub uid: Option<u32>,
    /// Length of the sample in seconds.
    pub sample_s: Option<f64>,
    /// All findings, worst first, then by subject.
    pub findings: Vec<Finding>,
}

impl Examination {
    /// Whether a measurement here would be invalid.
    #[must_use]
    pub fn spoilt(&self) -> bool {
        self.findings.iter().any(|f| f.severity.spoils())
    }

    /// Number of findings of a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }
}

/// Examines this machine for a measurement at `path`; takes about a second.
#[must_use]
pub fn examine(path: &Path) -> Examination {
    let before = Look::take(&Live);
    std::thread::sleep(SAMPLE);
    let sample = Sample::between(before, Look::take(&Live));
    run(&scene_of(&Live, path, sample, hypervisor_signature()))
}

fn scene_of<'a>(
    files: &'a dyn KernelFiles,
    path: &Path,
    sample: Sample,
    hypervisor: Option<String>,
) -> Scene<'a> {
    let path = files.canonical(path).unwrap_or_else(|_| path.to_path_buf());
    let stack = stack_with(files, &path);
    let environment = capture_with(files, &path, &stack, "", hypervisor);
    let status = files.trimmed(Path::new("/proc/self/status")).unwrap_or_default();
    // Real, effective, saved and file-system id.
    let uid = status.lines().find_map(|l| l.strip_prefix("Uid:")?.split_whitespace().nth(1)?.parse().ok());
    Scene { files, path, stack, environment, sample, uid }
}

fn run(scene: &Scene) -> Examination {
    let mut findings = Vec::new();
    for check in &checks::ALL {
        for mut finding in (check.find)(scene) {
            debug_assert!(
                check.codes.contains(&finding.code),
                "{} is not in the table of checks",
                finding.code
            );
            finding.subject = check.subject;
            findings.push(finding);
        }
    }
    // Stable sort: within a subject in the order of the table.
    findings.sort_by_key(|f| (f.severity, f.subject));
    Examination {
        path: scene.path.display().to_string(),
        file_system: scene.kind().to_string(),
        mount_point: scene.mount_point().to_string(),
        devices: scene.stack.devices.iter().map(|d| d.name.clone()).collect(),
        devices_note: scene.stack.note.clone(),
        uid: scene.uid,
        sample_s: scene.sample.seconds(),
        findings,
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{machine, scene};
    use super::*;

    #[test]
    fn a_machine_in_order_is_good() {
        let fake = machine();
        let found = run(&scene(&fake));
        // SMART is never seen without tools.
        let seen = found.findings.iter().filter(|f| f.code != "smart");
        let bad: Vec<&Finding> = seen.filter(|f| f.severity != Severity::Good).collect();
        assert!(bad.is_empty(), "{bad:#?}");
        assert!(!found.spoilt() && found.count(Severity::Good) > 30, "{}", found.findings.len());
    }

    #[test]
    fn unknown_facts_are_not_reported_as_good() {
        let fake = crate::fake::Fake::new();
        let found = run(&scene(&fake));
        let good: Vec<&Finding> = found.findings.iter().filter(|f| f.severity == Severity::Good).collect();
        assert!(good.is_empty(), "{good:#?}");
    }

    #[test]
    fn the_worst_comes_first_and_subjects_stay_together() {
        let fake = machine()
            .file("/proc/loadavg", "9.00 8.00 7.00 1/200 4711\n")
            .file("/proc/self/mountinfo", "27 1 8:1 / / ro,relatime - ext4 /dev/sda1 ro\n");
        let found = run(&scene(&fake)).findings;
        assert_eq!(found[0].code, "read-only");
        assert!(found.windows(2).all(|w| (w[0].severity, w[0].subject) <= (w[1].severity, w[1].subject)));
    }

    #[test]
    fn every_code_is_documented_once() {
        let page = include_str!("../../../../docs/doctor.md");
        let mut codes: Vec<&str> = checks::ALL.iter().flat_map(|c| c.codes).copied().collect();
        for code in &codes {
            assert!(page.contains(&format!("| `{code}` |")), "docs/doctor.md has no row for {code}");
        }
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all, "a code of two checks");
        let rows = page.lines().filter(|l| l.starts_with("| `")).count();
        assert_eq!(rows, all, "docs/doctor.md has a row for a code that no check has");
    }

    #[test]
    fn every_complaint_says_what_to_do() {
        // The checks' own tests cover every bad case on fakes; this one examines the running machine.
        let dir = tempfile::tempdir().expect("a directory");
        let found = examine(dir.path());
        assert!(found.sample_s.is_some_and(|s| s > 0.3), "{:?}", found.sample_s);
        for f in found.findings.iter().filter(|f| f.severity.spoils()) {
            assert!(!f.remedy.is_empty() || !f.command.is_empty(), "{f:?}");
        }
        assert!(found.findings.iter().all(|f| !f.source.is_empty() && !f.sentence.is_empty()));
    }
}
