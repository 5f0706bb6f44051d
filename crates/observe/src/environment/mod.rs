//! The environment document: the machine, its kernel, memory, file system, devices and limits at one point in time, as JSON.
//! docs/formats/environment.md describes the keys.
//!
//! An unavailable figure is `null`, with the reason in `missing` under its dotted name. Nothing here fails, and nothing on the machine is
//! changed. Serial numbers are stored as hashes.

mod block;
mod cpu;
mod filesystem;
mod limits;
mod memory;
mod perf_events;
mod system;

use crate::device::{DeviceStack, stack_with};
use crate::files::{KernelFiles, Live};
pub(crate) use limits::SLOW_CALL_NS;
use serde_json::{Map, Value};
use std::path::Path;

/// The environment of a measurement in `dir`.
#[must_use]
pub fn capture(dir: &Path) -> Value {
    let stack = stack_with(&Live, dir);
    let now = crate::local_time::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    capture_with(&Live, dir, &stack, &now, hypervisor_signature())
}

/// The hypervisor signature according to the processor.
pub(crate) fn hypervisor_signature() -> Option<String> {
    cpu::hypervisor_signature()
}

/// The document for any machine. `hypervisor` is the signature according to the processor.
pub(crate) fn capture_with(
    files: &dyn KernelFiles,
    dir: &Path,
    stack: &DeviceStack,
    now: &str,
    hypervisor: Option<String>,
) -> Value {
    let mut doc = Document::new(files);
    doc.set("captured_at", Some(now), "");
    system::capture(&mut doc);
    cpu::capture(&mut doc, hypervisor);
    memory::capture(&mut doc);
    filesystem::capture(&mut doc, dir, stack);
    block::capture(&mut doc, stack);
    limits::capture(&mut doc);
    doc.finish()
}

/// A document under construction.
struct Document<'a> {
    files: &'a dyn KernelFiles,
    root: Map<String, Value>,
    missing: Map<String, Value>,
}

impl<'a> Document<'a> {
    fn new(files: &'a dyn KernelFiles) -> Self {
        Self { files, root: Map::new(), missing: Map::new() }
    }

    /// Sets the value at a dotted name; without a value it becomes null with the reason.
    fn set(&mut self, name: &str, value: Option<impl Into<Value>>, reason: &str) {
        let value = value.map_or(Value::Null, Into::into);
        if value.is_null() {
            self.missing.insert(name.to_string(), reason.into());
        }
        let mut place = &mut self.root;
        let (path, leaf) = name.rsplit_once('.').map_or((None, name), |(path, leaf)| (Some(path), leaf));
        for part in path.iter().flat_map(|p| p.split('.')) {
            let below = place.entry(part).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(below) = below else { return };
            place = below;
        }
        place.insert(leaf.to_string(), value);
    }

    /// Sets a value to the text of a file.
    fn text(&mut self, name: &str, path: &str) {
        let value = self.files.trimmed(Path::new(path));
        self.set(name, value, &unreadable(path));
    }

    /// Sets a value to the number in a file.
    fn number(&mut self, name: &str, path: &str) {
        let value = self.files.trimmed(Path::new(path)).and_then(|t| t.parse::<i64>().ok());
        self.set(name, value, &unreadable(path));
    }

    /// Sets a value to the word in brackets of a file such as `always [madvise] never`.
    fn choice(&mut self, name: &str, path: &str) {
        let value = self.files.trimmed(Path::new(path)).map(|t| chosen(&t));
        self.set(name, value, &unreadable(path));
    }

    fn finish(mut self) -> Value {
        self.root.insert("missing".into(), Value::Object(self.missing));
        Value::Object(self.root)
    }
}

/// The reason why a file yields no value.
fn unreadable(path: &str) -> String {
    format!("{path} is not there, not readable, or not a figure")
}

/// The word in brackets; the whole text if there are none.
pub(crate) fn chosen(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(word, _)| word).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::files::Space;

    pub(super) fn at(doc: &Value, name: &str) -> Value {
        name.split('.').fold(doc.clone(), |value, part| match part.parse::<usize>() {
            Ok(index) => value[index].clone(),
            Err(_) => value[part].clone(),
        })
    }

    fn machine() -> Fake {
        let queue = "/sys/devices/ata1/block/sda/queue";
        let cpu = "/sys/devices/system/cpu";
        Fake::new()
            .disk("ata1", "sda", (8, 0))
            .partition("ata1", "sda", "sda1", (8, 1))
            .file("/sys/devices/ata1/block/sda/size", "4194304\n")
            .file("/sys/devices/ata1/block/sda/device/model", "FAST DISK   \n")
            .file("/sys/devices/ata1/block/sda/device/vpd_pg80", "\u{0}\u{0}\u{0}\u{4}S123")
            .file(&format!("{queue}/rotational"), "0\n")
            .file(&format!("{queue}/scheduler"), "none [mq-deadline] kyber\n")
            .file(&format!("{queue}/iosched/read_expire"), "500\n")
            .file(&format!("{queue}/nr_requests"), "256\n")
            .file(&format!("{queue}/read_ahead_kb"), "128\n")
            .file(&format!("{queue}/max_sectors_kb"), "1280\n")
            .file(&format!("{queue}/write_cache"), "write back\n")
            .file(&format!("{queue}/logical_block_size"), "512\n")
            .file(&format!("{queue}/physical_block_size"), "4096\n")
            .link("/dev/disk/by-uuid/aa-bb", "../../sda1")
            .file("/proc/self/mountinfo", "27 1 8:1 / / rw,noatime - ext4 /dev/sda1 rw,errors=remount-ro\n30 27 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .on_mount("/", 27, (8, 1))
            .space(Space { block_bytes: 4096, total_bytes: 1 << 30, free_bytes: 1 << 28, files_total: 100, files_free: 40, ..Space::default() })
            .file("/proc/sys/kernel/osrelease", "6.18.0-test\n")
            .file("/proc/fs/jbd2/sda1-8/info", "2 transactions (1 requested), each up to 1365 blocks\naverage: \n")
            .file("/proc/sys/kernel/hostname", "box\n")
            .file("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
            .file("/proc/uptime", "100.50 90\n")
            .file("/proc/loadavg", "0.50 0.25 0.10 1/200 4711\n")
            .file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU @ 2 GHz\nflags\t\t: fpu constant_tsc nonstop_tsc\n")
            .file(&format!("{cpu}/online"), "0-2,5\n")
            .file(&format!("{cpu}/cpu0/cpufreq/scaling_governor"), "powersave\n")
            .file(&format!("{cpu}/cpu5/cpufreq/scaling_governor"), "performance\n")
            .file(&format!("{cpu}/cpu0/cache/index0/level"), "1\n")
            .file(&format!("{cpu}/cpu0/cache/index0/type"), "Data\n")
            .file(&format!("{cpu}/cpu0/cache/index0/size"), "32K\n")
            .file(&format!("{cpu}/cpu0/cache/index0/shared_cpu_list"), "0,1\n")
            .file(&format!("{cpu}/vulnerabilities/spectre_v2"), "Mitigation: Retpolines\n")
            .file("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n")
            .file("/proc/sys/vm/dirty_ratio", "20\n")
            .file("/proc/self/cgroup", "0::/user.slice/x\n")
            .file("/sys/fs/cgroup/user.slice/memory.max", "1048576\n")
            .file("/sys/fs/cgroup/user.slice/x/memory.max", "max\n")
            .file("/sys/fs/cgroup/user.slice/x/cpu.max", "150000 100000\n")
            .file("/proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \nMax locked memory         unlimited            unlimited            bytes     \n")
    }

    fn captured(fake: &Fake) -> Value {
        let stack = stack_with(fake, Path::new("/data"));
        capture_with(fake, Path::new("/data"), &stack, "2026-11-21T21:00:00+00:00", None)
    }

    #[test]
    fn a_known_machine_is_described() {
        let doc = captured(&machine());
        for (name, wanted) in [
            ("kernel", Value::from("6.18.0-test")),
            ("hostname", "box".into()),
            ("distribution", "Debian GNU/Linux 12 (bookworm)".into()),
            ("uptime_s", 100.5.into()),
            ("load_average.0", 0.5.into()),
            ("cpu.model", "Test CPU @ 2 GHz".into()),
            ("cpu.online", 4.into()),
            ("cpu.governor", "performance,powersave".into()),
            ("cpu.hypervisor", "none".into()),
            ("cpu.tsc_invariant", true.into()),
            ("cpu.caches.0.level", 1.into()),
            ("cpu.caches.0.kind", "data".into()),
            ("cpu.caches.0.size_bytes", 32_768.into()),
            ("cpu.caches.0.shared_cpus", 2.into()),
            ("mitigations.spectre_v2", "Mitigation: Retpolines".into()),
            ("memory.total_bytes", 1_024_000.into()),
            ("memory.available_bytes", 614_400.into()),
            ("vm.dirty_ratio", 20.into()),
            ("filesystem.type", "ext4".into()),
            ("filesystem.mount_point", "/".into()),
            ("filesystem.source", "/dev/sda1".into()),
            ("filesystem.options", "rw,noatime,errors=remount-ro".into()),
            ("filesystem.uuid", "aa-bb".into()),
            ("filesystem.free_bytes", (1 << 28).into()),
            ("filesystem.files_free", 40.into()),
            ("filesystem.journal_transaction_bytes", (1365 * 4096).into()),
            ("devices.0.name", "sda1".into()),
            ("devices.0.kind", "partition".into()),
            ("devices.0.scheduler", "mq-deadline".into()),
            ("devices.0.scheduler_tunables.read_expire", "500".into()),
            ("devices.1.name", "sda".into()),
            ("devices.1.model", "FAST DISK".into()),
            ("devices.1.size_bytes", (4_194_304i64 * 512).into()),
            ("devices.1.rotational", false.into()),
            ("devices.1.nr_requests", 256.into()),
            ("devices.1.read_ahead_kb", 128.into()),
            ("devices.1.max_sectors_kb", 1280.into()),
            ("devices.1.write_cache", "write back".into()),
            ("devices.1.logical_block_bytes", 512.into()),
            ("devices.1.physical_block_bytes", 4096.into()),
            ("limits.cgroup.memory_max_bytes", 1_048_576.into()),
            ("limits.cgroup.cpu_max_cores", 1.5.into()),
            ("limits.ulimits.max_open_files.soft", 1024.into()),
            ("limits.ulimits.max_open_files.hard", 524_288.into()),
            ("limits.ulimits.max_locked_memory.soft", "unlimited".into()),
        ] {
            assert_eq!(at(&doc, name), wanted, "{name} of {doc:#}");
        }
    }

    #[test]
    fn a_serial_number_is_hashed() {
        let doc = captured(&machine());
        assert_eq!(at(&doc, "devices.1.serial_sha256"), Value::from(crate::sha256::hex("S123")));
        assert!(!doc.to_string().contains("S123"));
    }

    #[test]
    fn what_is_missing_is_null_and_says_why() {
        let fake = Fake::new();
        let doc = captured(&fake);
        for name in [
            "kernel",
            "cpu.model",
            "cpu.caches",
            "memory.total_bytes",
            "vm.swappiness",
            "filesystem.type",
            "devices",
            "clocksource",
        ] {
            assert_eq!(at(&doc, name), Value::Null, "{name}");
            assert!(doc["missing"][name].as_str().is_some_and(|r| !r.is_empty()), "no reason for {name}");
        }
    }

    #[test]
    fn this_machine_can_be_captured() {
        let dir = tempfile::tempdir().expect("a directory");
        let doc = capture(dir.path());
        for name in [
            "kernel",
            "hostname",
            "cpu.online",
            "memory.total_bytes",
            "filesystem.total_bytes",
            "captured_at",
        ] {
            assert!(!at(&doc, name).is_null(), "{name} of {doc:#}");
        }
        let nulls = |v: &Value| v.is_null();
        assert_eq!(doc["devices"].as_array().is_none_or(Vec::is_empty), nulls(&doc["devices"]));
    }

    #[test]
    fn the_word_in_brackets_is_chosen() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
        assert_eq!(chosen("broken [x"), "broken [x");
    }
}
