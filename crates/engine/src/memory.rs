//! Whether the I/O buffers of a phase fit into memory. They are populated before the start, so requesting too much would trigger
//! the OOM killer instead of an error; so would locking it. Reserved huge pages are a separate pool, and so is each NUMA node.

use crate::EngineError;
use crate::buffer::huge_page_bytes;
use crate::contents::Contents;
use crate::error::unsupported;
use crate::job::Job;
use fathom_workload::{Node, Pages, Phase};
use std::collections::BTreeMap;

/// Refuses a phase whose buffers would take more than three quarters of the memory available now, on the machine or on a node, or
/// more huge pages than are free.
pub(crate) fn check<'a>(phase: &Phase, jobs: impl Iterator<Item = &'a Job<'a>>) -> Result<(), EngineError> {
    let mut needed = MemoryNeeds::default();
    let mut locked = 0u64;
    for job in jobs {
        locked = locked.saturating_add(job.locked_bytes());
        let plan = match job {
            Job::Stream(plan) => plan,
            Job::Flow(plan) => {
                needed.add(plan.buffer_bytes(), Pages::Auto, Node::Local);
                continue;
            }
        };
        let depth = plan.depth();
        let each = Contents::bytes(plan.stream, plan.largest, depth);
        let buffers = plan.stream.buffers;
        needed.add(each.saturating_mul(u64::from(depth)), buffers.pages, buffers.node);
    }
    let sentence = too_much_locked(locked, needed.in_base_pages(None).unwrap_or(0), available_bytes())
        .or_else(|| {
            needed
                .in_base_pages(None)
                .and_then(|bytes| too_much(bytes, available_bytes()?, "of memory are available"))
        })
        .or_else(|| {
            needed.nodes().find_map(|n| {
                too_much(
                    needed.in_base_pages(Some(n))?,
                    node_bytes(n)?,
                    &format!("are available on NUMA node {n}"),
                )
            })
        })
        .or_else(|| {
            let bytes = needed.in_huge_pages()?;
            huge_pages_wanting(
                bytes.div_ceil(huge_page_bytes()),
                huge_page_bytes(),
                HugePagePool::read(huge_page_bytes())?,
            )
        });
    sentence.map_or(Ok(()), |s| Err(unsupported(&format!("phase {}", phase.name), &s)))
}

/// Bytes needed, by kind of page and required node.
#[derive(Default)]
struct MemoryNeeds(BTreeMap<(bool, Option<u32>), u64>);

impl MemoryNeeds {
    fn add(&mut self, bytes: u64, pages: Pages, node: Node) {
        let node = match node {
            Node::Number(n) => Some(n),
            Node::Bind(nodes) => nodes.only(),
            Node::Local | Node::Device | Node::Prefer(_) | Node::Interleave(_) => None,
        };
        let sum = self.0.entry((pages == Pages::Huge, node)).or_default();
        *sum = sum.saturating_add(bytes);
    }

    fn sum(&self, wanted: impl Fn(bool, Option<u32>) -> bool) -> Option<u64> {
        let parts = self.0.iter().filter(|(key, _)| wanted(key.0, key.1)).map(|(_, &bytes)| bytes);
        Some(parts.fold(0, u64::saturating_add)).filter(|&bytes| bytes > 0)
    }

    /// On a node, or in total.
    fn in_base_pages(&self, on: Option<u32>) -> Option<u64> {
        self.sum(|huge, node| !huge && (on.is_none() || node == on))
    }

    fn in_huge_pages(&self) -> Option<u64> {
        self.sum(|huge, _| huge)
    }

    fn nodes(&self) -> impl Iterator<Item = u32> {
        self.0.keys().filter_map(|k| k.1)
    }
}

fn too_much(needed: u64, available: u64, there: &str) -> Option<String> {
    (needed > available / 4 * 3).then(|| {
        format!(
            "its I/O buffers need {} MiB, which is too much: {} MiB {there}; use fewer workers, a smaller queue depth or smaller records",
            needed >> 20,
            available >> 20
        )
    })
}

/// Locking is meant to leave little memory, so a sixteenth is enough.
fn too_much_locked(locked: u64, buffers: u64, available: Option<u64>) -> Option<String> {
    let available = available.filter(|_| locked > 0)?;
    (locked.saturating_add(buffers) > available / 16 * 15).then(|| {
        format!(
            "its workers lock {} MiB of memory, but {} MiB are available and a sixteenth of it must stay free; lock less (fio: lockmem)",
            locked >> 20,
            available >> 20
        )
    })
}

/// The reserved huge pages of the default size.
#[derive(Clone, Copy)]
struct HugePagePool {
    reserved: u64,
    /// Neither used nor reserved, including those that the kernel may take from ordinary memory.
    free: u64,
}

impl HugePagePool {
    fn read(page_bytes: u64) -> Option<Self> {
        let number = |name: &str| -> Option<u64> {
            let path = format!("/sys/kernel/mm/hugepages/hugepages-{}kB/{name}", page_bytes / 1024);
            std::fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        // While pinned pages are being freed, Linux 6.18 briefly counts reserved pages below zero.
        let promised = number("resv_hugepages").filter(|&n| n < 1 << 63).unwrap_or(0);
        let unpromised = number("free_hugepages")?.saturating_sub(promised);
        let surplus = number("nr_overcommit_hugepages").unwrap_or(0);
        let surplus = surplus.saturating_sub(number("surplus_hugepages").unwrap_or(0));
        Some(Self { reserved: number("nr_hugepages")?, free: unpromised.saturating_add(surplus) })
    }
}

fn huge_pages_wanting(needed: u64, page_bytes: u64, pool: HugePagePool) -> Option<String> {
    let missing = needed.checked_sub(pool.free).filter(|&n| n > 0)?;
    Some(format!(
        "its I/O buffers need {needed} huge pages of {} KiB, but only {} are free; reserve them by writing {} to /proc/sys/vm/nr_hugepages, or leave buffers = {{ pages = \"huge\" }} out",
        page_bytes / 1024,
        pool.free,
        pool.reserved.saturating_add(missing)
    ))
}

fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    kib(&text, "MemAvailable:").map(|n| n.saturating_mul(1024))
}

/// What a node has free or can reclaim from its page cache.
fn node_bytes(node: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/sys/devices/system/node/node{node}/meminfo")).ok()?;
    let cache = ["Active(file):", "Inactive(file):"].iter().filter_map(|f| kib(&text, f)).sum::<u64>();
    Some(kib(&text, "MemFree:")?.saturating_add(cache).saturating_mul(1024))
}

/// The number after a field in a table of KiB; a node's lines begin with its name.
fn kib(text: &str, field: &str) -> Option<u64> {
    let words = text.lines().map(|l| l.split_ascii_whitespace().skip_while(|w| *w != field));
    words.filter_map(|mut w| w.nth(1)?.parse().ok()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_machine_and_of_a_node_are_read() {
        assert_eq!(kib("MemTotal: 9 kB\nMemAvailable:   77 kB\n", "MemAvailable:"), Some(77));
        assert_eq!(kib("Node 0 MemFree:  12 kB\nNode 0 Active(file): 3 kB\n", "Active(file):"), Some(3));
        assert_eq!(kib("MemTotal: 9 kB\n", "MemFree:"), None);
        assert!(available_bytes().is_some());
    }

    #[test]
    fn needed_memory_is_summed_by_node() {
        let mut needed = MemoryNeeds::default();
        needed.add(10, Pages::Auto, Node::Local);
        needed.add(20, Pages::Base, Node::Number(1));
        needed.add(40, Pages::Huge, Node::Number(1));
        needed.add(80, Pages::Huge, Node::Device);
        assert_eq!((needed.in_base_pages(None), needed.in_base_pages(Some(1))), (Some(30), Some(20)));
        assert_eq!((needed.in_base_pages(Some(0)), needed.in_huge_pages()), (None, Some(120)));
    }

    #[test]
    fn a_want_of_memory_is_a_sentence() {
        assert_eq!(too_much(74 << 20, 100 << 20, "x"), None);
        let said = too_much(76 << 20, 100 << 20, "of memory are available").unwrap();
        assert!(said.contains("need 76 MiB, which is too much: 100 MiB of memory are available"), "{said}");
        assert_eq!(too_much_locked(15, 0, Some(16)), None);
        assert_eq!(too_much_locked(0, 16, Some(16)), None, "nothing is locked");
        let said = too_much_locked(15 << 20, 1, Some(16 << 20)).unwrap();
        assert!(said.contains("lock 15 MiB of memory, but 16 MiB are available"), "{said}");
        let pool = HugePagePool { reserved: 10, free: 3 };
        assert_eq!(huge_pages_wanting(3, 2 << 20, pool), None);
        let said = huge_pages_wanting(5, 2 << 20, pool).unwrap();
        assert!(said.contains("need 5 huge pages of 2048 KiB, but only 3 are free"), "{said}");
        assert!(said.contains("writing 12 to /proc/sys/vm/nr_hugepages"), "{said}");
    }
}
