//! Main memory and the write-back settings.

use super::{Document, unreadable};
use crate::counters::meminfo_kib;
use std::path::Path;

pub(super) fn capture(doc: &mut Document) {
    let info = doc.files.trimmed(Path::new("/proc/meminfo")).unwrap_or_default();
    for (name, field) in [
        ("total_bytes", "MemTotal"),
        ("available_bytes", "MemAvailable"),
        ("free_bytes", "MemFree"),
        ("cached_bytes", "Cached"),
        ("dirty_bytes", "Dirty"),
        ("writeback_bytes", "Writeback"),
        ("swap_total_bytes", "SwapTotal"),
        ("swap_free_bytes", "SwapFree"),
        ("huge_page_bytes", "Hugepagesize"),
    ] {
        let value = meminfo_kib(&info, field).map(|kib| kib.saturating_mul(1024));
        doc.set(&format!("memory.{name}"), value, &format!("/proc/meminfo has no {field}"));
    }
    doc.set(
        "memory.huge_pages",
        meminfo_kib(&info, "HugePages_Total"),
        "/proc/meminfo has no HugePages_Total",
    );
    doc.choice("memory.transparent_huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled");
    for name in [
        "swappiness",
        "dirty_ratio",
        "dirty_bytes",
        "dirty_background_ratio",
        "dirty_background_bytes",
        "dirty_expire_centisecs",
        "dirty_writeback_centisecs",
        "vfs_cache_pressure",
    ] {
        doc.number(&format!("vm.{name}"), &format!("/proc/sys/vm/{name}"));
    }
    // Proactive reclaim evicts idle pages from the cache during a measurement.
    let path = "/sys/module/damon_reclaim/parameters/enabled";
    let damon = doc.files.trimmed(Path::new(path)).map(|t| t == "Y");
    doc.set("vm.damon_reclaim", damon, &unreadable(path));
}
