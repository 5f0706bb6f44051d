//! Kernel, host, distribution, clocks, load, security.

use super::{Document, unreadable};
use serde_json::{Map, Value};
use std::path::Path;

pub(super) fn capture(doc: &mut Document) {
    doc.text("kernel", "/proc/sys/kernel/osrelease");
    doc.text("kernel_version", "/proc/sys/kernel/version");
    doc.set("architecture", Some(std::env::consts::ARCH), "");
    doc.text("hostname", "/proc/sys/kernel/hostname");
    let distribution = doc.files.trimmed(Path::new("/etc/os-release")).and_then(|t| pretty_name(&t));
    doc.set("distribution", distribution, "/etc/os-release has no PRETTY_NAME");
    doc.text("boot_id", "/proc/sys/kernel/random/boot_id");
    let uptime = first_numbers(doc, "/proc/uptime", 1).and_then(|n| n.first().copied());
    doc.set("uptime_s", uptime, &unreadable("/proc/uptime"));
    let load = first_numbers(doc, "/proc/loadavg", 3);
    doc.set("load_average", load, &unreadable("/proc/loadavg"));
    let parameters = doc.files.trimmed(Path::new("/proc/cmdline")).map(|t| parameters(&t));
    doc.set("kernel_parameters", parameters, &unreadable("/proc/cmdline"));
    doc.text("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    doc.text("clocksources", "/sys/devices/system/clocksource/clocksource0/available_clocksource");
    doc.choice("security.lockdown", "/sys/kernel/security/lockdown");
    doc.text("security.modules", "/sys/kernel/security/lsm");
    mitigations(doc);
}

/// PRETTY_NAME of os-release, without its quotes.
fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_string()).filter(|v| !v.is_empty())
}

/// Kernel command line parameters that affect storage, memory or processors. Only these are kept: the others may be private, and what
/// follows " -- " is not for the kernel.
fn parameters(line: &str) -> Vec<String> {
    const KEPT: [&str; 36] = [
        "mitigations",
        "spectre",
        "spec_",
        "nospectre",
        "nopti",
        "pti",
        "retbleed",
        "l1tf",
        "mds",
        "tsx",
        "elevator",
        "scsi_mod.",
        "nvme",
        "dm_mod.",
        "libata.",
        "iommu",
        "intel_iommu",
        "amd_iommu",
        "swiotlb",
        "intel_pstate",
        "amd_pstate",
        "cpufreq",
        "processor.",
        "intel_idle",
        "idle",
        "isolcpus",
        "nohz",
        "rcu_nocbs",
        "transparent_hugepage",
        "hugepage",
        "psi",
        "clocksource",
        "preempt=",
        "tsc=",
        "nosmt",
        "threadirqs",
    ];
    let kernels = line.split(" -- ").next().unwrap_or("");
    let kept = |word: &&str| KEPT.iter().any(|k| word.starts_with(k));
    kernels.split_ascii_whitespace().filter(kept).map(String::from).collect()
}

fn first_numbers(doc: &Document, path: &str, n: usize) -> Option<Vec<f64>> {
    let text = doc.files.trimmed(Path::new(path))?;
    let numbers: Vec<f64> = text.split_ascii_whitespace().take(n).filter_map(|w| w.parse().ok()).collect();
    (numbers.len() == n).then_some(numbers)
}

/// Mitigations of processor vulnerabilities; some make every system call slower.
fn mitigations(doc: &mut Document) {
    let dir = Path::new("/sys/devices/system/cpu/vulnerabilities");
    let mut all = Map::new();
    for name in doc.files.list(dir).unwrap_or_default() {
        if let Some(text) = doc.files.trimmed(&dir.join(&name)) {
            all.insert(name, text.into());
        }
    }
    let value = (!all.is_empty()).then_some(Value::Object(all));
    doc.set("mitigations", value, &unreadable("/sys/devices/system/cpu/vulnerabilities"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parameters_that_matter_are_kept() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=1 token=secret nvme.poll_queues=4 mitigations=off quiet -- psi=1 key=x";
        assert_eq!(parameters(line), ["nvme.poll_queues=4", "mitigations=off"]);
        assert_eq!(parameters(""), [""; 0]);
    }

    #[test]
    fn the_distributions_name_loses_its_quotes() {
        assert_eq!(pretty_name("ID=x\nPRETTY_NAME=\"A B\"\n").as_deref(), Some("A B"));
        assert_eq!(pretty_name("PRETTY_NAME=Plain").as_deref(), Some("Plain"));
        assert_eq!(pretty_name("ID=x"), None);
    }
}
