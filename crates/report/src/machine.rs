//! The parts of a run's environment document that figures need: cache and memory sizes for the reference lines, and some names
//! for headlines. Everything in the document is optional.

use fathom_record::Run;
use serde_json::Value;

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Data caches, smallest level first: ("L1", bytes).
    pub caches: Vec<Reference>,
    /// Total memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Such as "AMD EPYC 7B13".
    pub cpu_model: Option<String>,
    /// Such as "6.18.1".
    pub kernel: Option<String>,
    /// Such as "ext4".
    pub filesystem: Option<String>,
    /// Such as "vda", with its model if known.
    pub device: Option<String>,
    /// Host name.
    pub host: Option<String>,
}

/// A size that gets a line on an axis of file sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Such as "L2", "memory".
    pub label: String,
    /// The size.
    pub bytes: u64,
}

impl Machine {
    /// Reads whatever the document has.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let env = &run.environment;
        Self {
            caches: caches(env.pointer("/cpu/caches")),
            memory_bytes: env.pointer("/memory/total_bytes").and_then(Value::as_u64),
            cpu_model: text(env, &["/cpu/model"]),
            kernel: text(env, &["/kernel", "/kernel/release", "/uname/release"]),
            filesystem: filesystem(run),
            device: text(env, &["/device", "/device/name", "/devices/0", "/devices/0/name", "/block/0/name"])
                .or_else(|| first_device(run).filter(|d| d.kind != SERVED).map(|d| d.name.clone())),
            host: text(env, &["/host", "/hostname", "/host/name"]),
        }
    }

    /// Size of the last-level cache.
    #[must_use]
    pub fn last_level_cache_bytes(&self) -> Option<u64> {
        self.caches.last().map(|c| c.bytes)
    }

    /// Whether its files are on another machine, over NFS.
    #[must_use]
    pub fn is_networked(&self) -> bool {
        self.filesystem.as_deref().is_some_and(|f| f.to_ascii_lowercase().starts_with("nfs"))
    }

    /// Cache sizes and memory, ascending.
    #[must_use]
    pub fn references(&self) -> Vec<Reference> {
        let memory = self.memory_bytes.map(|bytes| Reference { label: "memory".into(), bytes });
        self.caches.iter().cloned().chain(memory).collect()
    }
}

/// One entry per level: the largest cache that holds data (the list repeats caches per CPU; instruction caches hold no file data).
fn caches(list: Option<&Value>) -> Vec<Reference> {
    let mut levels = std::collections::BTreeMap::<u64, u64>::new();
    for cache in list.and_then(Value::as_array).into_iter().flatten() {
        let kind = cache.get("kind").and_then(Value::as_str).unwrap_or("");
        let level = cache.get("level").and_then(Value::as_u64);
        let size = cache.get("size_bytes").and_then(Value::as_u64);
        if let (Some(level), Some(size)) = (level, size)
            && !kind.eq_ignore_ascii_case("instruction")
        {
            let entry = levels.entry(level).or_default();
            *entry = size.max(*entry);
        }
    }
    levels.into_iter().map(|(level, bytes)| Reference { label: format!("L{level}"), bytes }).collect()
}

fn text(env: &Value, pointers: &[&str]) -> Option<String> {
    pointers.iter().find_map(|p| env.pointer(p).and_then(Value::as_str)).map(str::to_string)
}

/// "ext4"; "fuse, served by bindfs".
fn filesystem(run: &Run) -> Option<String> {
    let pointers = ["/filesystem", "/filesystem/type", "/filesystem/fs_type", "/filesystem/name"];
    let name = text(&run.environment, &pointers)?;
    let server = first_device(run).filter(|d| d.kind == SERVED && name.starts_with("fuse"));
    let server = server.and_then(|d| d.name.strip_suffix("'s storage"));
    Some(server.map_or_else(|| name.clone(), |server| format!("{name}, served by {server}")))
}

/// Kind of the entry with what the program of a FUSE file system read.
const SERVED: &str = "served";

fn first_device(run: &Run) -> Option<&fathom_record::DeviceDelta> {
    run.phases.iter().flat_map(|p| &p.repetitions).flat_map(|r| &r.physical.devices).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_empty_environment_is_no_error() {
        assert_eq!(Machine::of(&Run::default()), Machine::default());
    }

    #[test]
    fn a_fuse_file_system_has_a_server_and_no_device() {
        let mut run = crate::samples::survey_run();
        run.environment = json!({"filesystem": {"type": "fuse"}});
        for repetition in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
            for device in &mut repetition.physical.devices {
                (device.name, device.kind) = ("bindfs's storage".into(), SERVED.into());
            }
        }
        let machine = Machine::of(&run);
        assert_eq!(machine.filesystem.as_deref(), Some("fuse, served by bindfs"));
        assert_eq!(machine.device, None);
    }

    #[test]
    fn instruction_caches_are_left_out_and_levels_sorted() {
        let environment = json!({"cpu": {"caches": [
            {"level": 3, "kind": "Unified", "size_bytes": 33_554_432},
            {"level": 1, "kind": "Instruction", "size_bytes": 65_536},
            {"level": 1, "kind": "Data", "size_bytes": 32_768},
            {"level": "two"}
        ]}, "memory": {"total_bytes": 1000}, "filesystem": {"type": "ext4"}});
        let machine = Machine::of(&Run { environment, ..Run::default() });
        let labels: Vec<String> = machine.references().into_iter().map(|r| r.label).collect();
        assert_eq!(labels, ["L1", "L3", "memory"]);
        assert_eq!(machine.last_level_cache_bytes(), Some(33_554_432));
        assert_eq!(machine.filesystem.as_deref(), Some("ext4"));
    }
}
