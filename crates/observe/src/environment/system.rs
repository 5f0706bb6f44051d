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
    doc.text("kernel_command_line", "/proc/cmdline");
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

fn first_numbers(doc: &Document, path: &str, n: usize) -> Option<Vec<f64>> {
    let text = doc.files.trimmed(Path::new(path))?;
    let numbers: Vec<f64> = text.split_ascii_whitespace().take(n).filter_map(|w| w.parse().ok()).collect();
    (numbers.len() == n).then_some(numbers)
}

/// What the kernel does against faults of the processor; some of it makes every system call dearer.
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
