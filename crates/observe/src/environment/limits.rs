//! Resource limits of this process: control groups of both versions, and the classic limits.

use super::{Document, perf_events, unreadable};
use crate::device::mount::{self, Mount};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// From this time on, `limits.empty_call_ns` is slow: 0.1 to 0.5 us are usual, on processors with costly mitigations up to 1 us.
pub(crate) const SLOW_CALL_NS: u64 = 1000;

pub(super) fn capture(doc: &mut Document) {
    let text = doc.files.trimmed(Path::new("/proc/self/cgroup"));
    doc.set("limits.cgroup.path", text.clone(), &unreadable("/proc/self/cgroup"));
    let groups = Groups::new(doc, text.as_deref().unwrap_or(""));
    let memory = groups.memory_max_bytes(doc);
    let cores = groups.cpu_max_cores(doc);
    let io = groups.io_max(doc);
    let cpu_weights = groups.of_all_levels(&["cpu.weight"], "cpu", &["cpu.shares"], doc);
    let bfq = ["blkio.bfq.weight", "blkio.bfq.weight_device"];
    let io_weights = groups.of_all_levels(&["io.bfq.weight"], "blkio", &bfq, doc);
    let cpus = groups.own("cpuset", "cpuset.cpus.effective", "cpuset.effective_cpus", doc);
    doc.set("limits.cgroup.memory_max_bytes", memory, "no control group limits memory");
    doc.set("limits.cgroup.cpu_max_cores", cores, "no control group limits CPU time");
    doc.set("limits.cgroup.io_max", io, "no control group limits I/O, or the io controller is off");
    doc.set("limits.cgroup.cpu_weights", cpu_weights, "no control group has a CPU weight");
    doc.set("limits.cgroup.io_weights", io_weights, "no control group has a weight for bfq");
    doc.set("limits.cgroup.cpuset", cpus, "the cpuset controller is off");
    doc.set("limits.io_priority", io_priority(), "the kernel does not tell it");
    ulimits(doc);
    let status = doc.files.trimmed(Path::new("/proc/self/status")).unwrap_or_default();
    let capabilities = status.lines().find_map(|l| l.strip_prefix("CapEff:")).map(|v| v.trim().to_string());
    doc.set("limits.capabilities", capabilities, &unreadable("/proc/self/status"));
    let tracer =
        status.lines().find_map(|l| l.strip_prefix("TracerPid:")).map(str::trim).filter(|id| *id != "0");
    let named = tracer.map(|id| {
        let name = doc.files.trimmed(Path::new(&format!("/proc/{id}/comm")));
        name.map_or_else(|| format!("process {id}"), |name| format!("{name} (process {id})"))
    });
    doc.set("limits.tracer", named, "no program traces this one");
    let filters = status.lines().find_map(|l| l.strip_prefix("Seccomp_filters:")?.trim().parse::<u64>().ok());
    let filters = filters.filter(|n| *n > 0);
    doc.set("limits.seccomp_filters", filters, "no seccomp filter applies, or the kernel does not say");
    let events = doc.files.trimmed(Path::new("/sys/kernel/tracing/events/enable"));
    let on = events.as_deref().and_then(|state| match state {
        "1" => Some("all"),
        "X" => Some("some"),
        _ => None,
    });
    doc.set("limits.trace_events", on, "no trace event is on, or that is not readable");
    let empty_call_ns = doc.files.empty_call_ns();
    doc.set("limits.empty_call_ns", empty_call_ns, "not measured");
    // Looked for only where calls are slow: elsewhere such events cost nothing.
    let slow = empty_call_ns.is_some_and(|ns| ns >= SLOW_CALL_NS);
    let holders =
        slow.then(|| Vec::from_iter(perf_events::holders(doc.files, std::process::id())).join(", "));
    let holders = holders.filter(|names| !names.is_empty());
    doc.set(
        "limits.perf_events",
        holders,
        "system calls are not slow, or no other program is known to have any open",
    );
}

/// Location of this process's control groups: one directory for version 2, one per controller for version 1.
struct Groups {
    mounts: Vec<Mount>,
    /// (controllers, path) of /proc/self/cgroup; for version 2 the controllers are empty.
    memberships: Vec<(String, String)>,
}

impl Groups {
    fn new(doc: &Document, text: &str) -> Self {
        let mounts =
            doc.files.read(Path::new("/proc/self/mountinfo")).map(|t| mount::parse(&t)).unwrap_or_default();
        let line = |l: &str| {
            let mut parts = l.splitn(3, ':').skip(1);
            Some((parts.next()?.to_string(), parts.next()?.to_string()))
        };
        Self { mounts, memberships: text.lines().filter_map(line).collect() }
    }

    /// The directories of a controller, from the innermost up to the mount: a limit on any level applies.
    fn directories(&self, controller: Option<&str>) -> Vec<PathBuf> {
        let of_controller =
            |list: &str| controller.map_or(list.is_empty(), |c| list.split(',').any(|w| w == c));
        let Some((_, path)) = self.memberships.iter().find(|(list, _)| of_controller(list)) else {
            return Vec::new();
        };
        let mount = self.mounts.iter().find(|m| match controller {
            None => m.kind == "cgroup2",
            Some(c) => m.kind == "cgroup" && m.has_option(c),
        });
        let Some(mount) = mount else { return Vec::new() };
        // In a container the mount may show only a part of the hierarchy.
        let inside = Path::new(path).strip_prefix(&mount.root).or_else(|_| Path::new(path).strip_prefix("/"));
        let inside = inside.map(Path::to_path_buf).unwrap_or_default();
        let top = Path::new(&mount.mount_point);
        inside.ancestors().map(|a| top.join(a)).collect()
    }

    /// A file of our own group, by its name in version 2 or in version 1.
    fn own(&self, controller: &str, v2: &str, v1: &str, doc: &Document) -> Option<String> {
        let first = |dirs: Vec<PathBuf>, name: &str| doc.files.trimmed(&dirs.first()?.join(name));
        first(self.directories(None), v2).or_else(|| first(self.directories(Some(controller)), v1))
    }

    fn memory_max_bytes(&self, doc: &Document) -> Option<u64> {
        // Version 1 represents "no limit" by a number close to 2^63.
        let number = |path: PathBuf| doc.files.trimmed(&path)?.parse::<u64>().ok().filter(|&n| n < 1 << 62);
        let v2 = self.directories(None).into_iter().filter_map(|d| number(d.join("memory.max")));
        let v1 = self
            .directories(Some("memory"))
            .into_iter()
            .filter_map(|d| number(d.join("memory.limit_in_bytes")));
        v2.chain(v1).min()
    }

    fn cpu_max_cores(&self, doc: &Document) -> Option<f64> {
        let v2 = self.directories(None).into_iter().filter_map(|d| {
            let text = doc.files.trimmed(&d.join("cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
        });
        let v1 = self.directories(Some("cpu")).into_iter().filter_map(|d| {
            let read = |name: &str| doc.files.trimmed(&d.join(name))?.parse::<f64>().ok();
            // -1 means no limit.
            Some(read("cpu.cfs_quota_us").filter(|&q| q > 0.0)? / read("cpu.cfs_period_us")?)
        });
        v2.chain(v1).filter(|c| c.is_finite()).min_by(f64::total_cmp)
    }

    /// The lines of io.max, or of version 1's throttle files, prefixed by their names.
    fn io_max(&self, doc: &Document) -> Option<Value> {
        let throttle = ["read_bps_device", "write_bps_device", "read_iops_device", "write_iops_device"];
        let throttle = throttle.map(|n| format!("blkio.throttle.{n}"));
        self.of_all_levels(&["io.max"], "blkio", &throttle.each_ref().map(String::as_str), doc)
    }

    /// The texts of files of our group and of those above it, of both versions, by their paths.
    fn of_all_levels(&self, v2: &[&str], controller: &str, v1: &[&str], doc: &Document) -> Option<Value> {
        let mut found = Map::new();
        let mut look = |dirs: Vec<PathBuf>, names: &[&str]| {
            for (dir, name) in dirs.iter().flat_map(|d| names.iter().map(move |n| (d, n))) {
                if let Some(text) = doc.files.trimmed(&dir.join(name)) {
                    found.insert(dir.join(name).display().to_string(), text.into());
                }
            }
        };
        look(self.directories(None), v2);
        look(self.directories(Some(controller)), v1);
        (!found.is_empty()).then_some(Value::Object(found))
    }
}

/// The I/O class of the calling thread, which those it starts inherit, and its level: "best-effort 4", "idle", "none".
fn io_priority() -> Option<String> {
    const WHO_PROCESS: libc::c_long = 1;
    // SAFETY: two numbers; 0 is the calling thread.
    let number = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };
    let number = u16::try_from(number).ok()?;
    // Class in the bits from 13 up, level in the lowest three.
    let level = number & 7;
    match number >> 13 {
        0 => Some("none".into()),
        1 => Some(format!("realtime {level}")),
        2 => Some(format!("best-effort {level}")),
        3 => Some("idle".into()),
        _ => None,
    }
}

/// /proc/self/limits: a table with fixed column positions, because the names contain spaces.
fn ulimits(doc: &mut Document) {
    let text = doc.files.trimmed(Path::new("/proc/self/limits")).unwrap_or_default();
    let mut all = Map::new();
    for line in text.lines().skip(1) {
        let (Some(name), Some(rest)) = (line.get(..26), line.get(26..)) else { continue };
        let mut words = rest.split_ascii_whitespace();
        let (Some(soft), Some(hard)) = (words.next(), words.next()) else { continue };
        let key = name.trim().to_lowercase().replace(' ', "_");
        all.insert(key, json!({"soft": limit(soft), "hard": limit(hard), "unit": words.next()}));
    }
    doc.set(
        "limits.ulimits",
        (!all.is_empty()).then_some(Value::Object(all)),
        &unreadable("/proc/self/limits"),
    );
}

/// A number, or the word "unlimited".
fn limit(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::super::capture_with;
    use crate::device::stack_with;
    use crate::fake::Fake;
    use serde_json::Value;
    use std::path::Path;

    #[test]
    fn limits_of_version_1_are_found_too() {
        let fake = Fake::new()
            .file("/proc/self/mountinfo", "9 1 0:9 / /cg/memory rw - cgroup cgroup rw,memory\n8 1 0:8 /box /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n7 1 0:7 / /cg/blkio rw - cgroup cgroup rw,blkio\n")
            .file("/proc/self/cgroup", "3:memory:/a/b\n2:cpu,cpuacct:/box/c\n1:blkio:/\n")
            .file("/cg/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n")
            .file("/cg/memory/a/memory.limit_in_bytes", "2097152\n")
            .file("/cg/cpu/c/cpu.cfs_quota_us", "50000\n")
            .file("/cg/cpu/c/cpu.cfs_period_us", "100000\n")
            .file("/cg/cpu/c/cpu.shares", "2\n")
            .file("/cg/blkio/blkio.bfq.weight", "50\n")
            .file("/cg/blkio/blkio.throttle.read_bps_device", "8:0 1048576\n");
        let stack = stack_with(&fake, Path::new("/"));
        let doc = capture_with(&fake, Path::new("/"), &stack, "", None);
        let cgroup = &doc["limits"]["cgroup"];
        assert_eq!(cgroup["memory_max_bytes"], Value::from(2_097_152));
        assert_eq!(cgroup["cpu_max_cores"], Value::from(0.5));
        assert_eq!(cgroup["cpu_weights"]["/cg/cpu/c/cpu.shares"], Value::from("2"));
        assert_eq!(cgroup["io_weights"]["/cg/blkio/blkio.bfq.weight"], Value::from("50"));
        assert_eq!(cgroup["io_max"]["/cg/blkio/blkio.throttle.read_bps_device"], Value::from("8:0 1048576"));
    }

    #[test]
    fn no_limit_is_null() {
        let doc = capture_with(&Fake::new(), Path::new("/"), &Default::default(), "", None);
        assert_eq!(doc["limits"]["cgroup"]["memory_max_bytes"], Value::Null);
        assert!(doc["missing"]["limits.cgroup.memory_max_bytes"].is_string());
    }
}
