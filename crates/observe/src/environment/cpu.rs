//! Processors: model, number, caches, frequency control, NUMA, and whether they are virtual.

use super::{Document, unreadable};
use crate::cpu_list;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const ROOT: &str = "/sys/devices/system/cpu";
/// Where kernel workers that are bound to no processor may run.
const WORKERS: &str = "/sys/devices/virtual/workqueue/cpumask";

pub(super) fn capture(doc: &mut Document, signature: Option<String>) {
    let info = doc.files.trimmed(Path::new("/proc/cpuinfo")).unwrap_or_default();
    let model = ["model name", "Model", "cpu model", "cpu"].iter().find_map(|n| field(&info, n));
    doc.set("cpu.model", model, &unreadable("/proc/cpuinfo"));
    let online = doc.files.trimmed(&Path::new(ROOT).join("online")).and_then(|t| cpus_in(&t));
    doc.set("cpu.online", online, &unreadable("/sys/devices/system/cpu/online"));
    let status = doc.files.trimmed(Path::new("/proc/self/status")).unwrap_or_default();
    let allowed = cpu_list::allowed(&status).map(|cpus| cpus.len());
    doc.set("cpu.allowed", allowed, &unreadable("/proc/self/status"));
    let workers = doc.files.trimmed(Path::new(WORKERS)).as_deref().and_then(bits);
    doc.set("cpu.kernel_workers", workers.zip(online).map(|(n, online)| n.min(online)), &unreadable(WORKERS));
    doc.number("cpu.smt_active", "/sys/devices/system/cpu/smt/active");
    let caches = caches(doc);
    doc.set("cpu.caches", caches, "/sys/devices/system/cpu/cpu0/cache is empty or not there");
    let why = "no processor has a cpufreq directory: the frequency is not controlled from this kernel";
    let governor = distinct(doc, "scaling_governor");
    doc.set("cpu.governor", governor, why);
    let driver = distinct(doc, "scaling_driver");
    doc.set("cpu.frequency_driver", driver, why);
    boost(doc);
    let flags = field(&info, "flags");
    let has = |flag: &str| flags.as_ref().map(|f| f.split(' ').any(|w| w == flag));
    let invariant = has("constant_tsc").zip(has("nonstop_tsc")).map(|(a, b)| a && b);
    doc.set("cpu.tsc_invariant", invariant, "/proc/cpuinfo has no flags of this processor family");
    hypervisor(doc, has("hypervisor"), signature);
    let nodes = doc.files.trimmed(Path::new("/sys/devices/system/node/online")).and_then(|t| cpus_in(&t));
    doc.set("cpu.numa_nodes", nodes, &unreadable("/sys/devices/system/node/online"));
}

/// The first processor's value of a line "name : value" in /proc/cpuinfo.
fn field(info: &str, name: &str) -> Option<String> {
    info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_string())
    })
}

/// The number of bits of a mask such as "ff,00000003".
fn bits(mask: &str) -> Option<u64> {
    mask.split(',').map(|word| u32::from_str_radix(word, 16).ok().map(|w| u64::from(w.count_ones()))).sum()
}

/// How many CPUs a list like "0-3,8" has.
fn cpus_in(list: &str) -> Option<u64> {
    cpu_list::parse(list).map(|cpus| cpus.len() as u64)
}

/// The caches of the first processor, taken as typical of all.
fn caches(doc: &Document) -> Option<Value> {
    let root = Path::new(ROOT).join("cpu0/cache");
    let mut all = Vec::new();
    for index in doc.files.list(&root).ok()?.iter().filter(|n| n.starts_with("index")) {
        let text = |name: &str| doc.files.trimmed(&root.join(index).join(name));
        let Some(level) = text("level").and_then(|t| t.parse::<u64>().ok()) else { continue };
        all.push(json!({
            "level": level,
            "kind": text("type").map(|t| t.to_lowercase()),
            "size_bytes": text("size").and_then(|t| size_bytes(&t)),
            "shared_cpus": text("shared_cpu_list").and_then(|t| cpus_in(&t)),
        }));
    }
    (!all.is_empty()).then_some(Value::Array(all))
}

/// "32K", "1M", "512".
fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// The values of a cpufreq file over all processors: normally one, otherwise several separated by commas.
fn distinct(doc: &Document, name: &str) -> Option<String> {
    let is_cpu = |n: &&String| {
        n.strip_prefix("cpu").is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    let cpus = doc.files.list(Path::new(ROOT)).ok()?;
    let path = |cpu: &String| Path::new(ROOT).join(cpu).join("cpufreq").join(name);
    let values: BTreeSet<String> =
        cpus.iter().filter(is_cpu).filter_map(|c| doc.files.trimmed(&path(c))).collect();
    (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(","))
}

/// Whether the processors may exceed their nominal frequency. The file of Intel's driver has the opposite meaning.
fn boost(doc: &mut Document) {
    let flag = |path: &str| doc.files.trimmed(Path::new(path)).map(|t| t == "1");
    let general = flag("/sys/devices/system/cpu/cpufreq/boost");
    let intel = flag("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|no| !no);
    doc.set("cpu.boost", general.or(intel), "the frequency driver does not tell");
}

/// "none" on a physical machine, otherwise the hypervisor's name if known.
fn hypervisor(doc: &mut Document, flag: Option<bool>, signature: Option<String>) {
    let text = |path: &str| doc.files.trimmed(Path::new(path));
    let xen = text("/sys/hypervisor/type");
    let dmi = [text("/sys/class/dmi/id/sys_vendor"), text("/sys/class/dmi/id/product_name")];
    let dmi = dmi.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let virtual_dmi = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "Xen",
        "Virtual Machine",
        "Google Compute",
        "Amazon EC2",
        "OpenStack",
        "Bochs",
    ];
    let named = (!dmi.is_empty()).then(|| dmi.clone());
    let by_dmi = named.clone().filter(|d| virtual_dmi.iter().any(|v| d.contains(v)) && !d.contains("metal"));
    let name = match (signature.or(xen), flag) {
        (Some(name), _) => Some(name),
        (None, Some(true)) => Some(named.unwrap_or_else(|| "unknown".into())),
        (None, Some(false)) => Some("none".into()),
        (None, None) => by_dmi,
    };
    doc.set(
        "cpu.hypervisor",
        name,
        "this processor family does not tell, and the firmware names no virtual machine",
    );
}

/// The hypervisor's signature in its reserved CPUID leaf: "KVMKVMKVM".
#[cfg(target_arch = "x86_64")]
pub(super) fn hypervisor_signature() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    // Older compilers require unsafe for this call, newer ones do not.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has CPUID with leaf 1.
    let features = unsafe { __cpuid(1) };
    if features.ecx & (1 << 31) == 0 {
        return None;
    }
    #[allow(unused_unsafe)]
    // SAFETY: as above; bit 31 of leaf 1 guarantees this leaf.
    let leaf = unsafe { __cpuid(0x4000_0000) };
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|r| r.to_le_bytes()).collect();
    let name: String = bytes.iter().filter(|b| b.is_ascii_graphic()).map(|&b| char::from(b)).collect();
    Some(if name.is_empty() { "unknown".into() } else { name })
}

/// Other architectures have no such leaf.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn hypervisor_signature() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_sizes_are_powers_of_two() {
        assert_eq!(size_bytes("32K"), Some(32_768));
        assert_eq!(size_bytes("36608K"), Some(36_608 * 1024));
        assert_eq!(size_bytes("2M"), Some(2 << 20));
        assert_eq!(size_bytes("K"), None);
        assert_eq!(size_bytes("5X"), None);
    }
}
