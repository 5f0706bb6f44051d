//! NUMA nodes for I/O buffers: which exist, which one a file's device is attached to, and binding memory to one. Uses sysfs and
//! one system call; no effect on a machine with a single node.

use fathom_workload::Node;
use rustix::io::Errno;
use std::ffi::c_void;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// Limit for stacked devices, such as loop devices on loop devices.
const MOST_LAYERS: u32 = 8;

/// The node that buffers for the file at `path` are bound to. `None`: the kernel takes the node of the CPU that first touches the
/// memory, unless the user chose otherwise (numactl), which is the meaning of [`Node::Local`].
pub(crate) fn node_of(wanted: Node, path: &Path) -> Option<u32> {
    match wanted {
        // The thread's policy applies to them, too.
        Node::Local | Node::Bind(_) | Node::Prefer(_) | Node::Interleave(_) => None,
        Node::Number(n) => Some(n),
        // A node without memory, as those of some devices are, cannot hold buffers.
        Node::Device => device_node(Path::new("/sys"), path, 0).filter(|n| nodes().contains(n)),
    }
}

/// Why buffers cannot be on the node; `None` if they can.
pub(crate) fn refusal(wanted: Node) -> Option<String> {
    let wanted = match wanted {
        Node::Number(n) | Node::Prefer(n) => vec![n],
        Node::Bind(nodes) | Node::Interleave(nodes) => nodes.numbers(),
        Node::Local | Node::Device => return None,
    };
    let nodes = nodes();
    let n = wanted.into_iter().find(|n| !nodes.contains(n))?;
    let there: Vec<String> = nodes.iter().map(u32::to_string).collect();
    Some(format!(
        "its buffers need NUMA node {n}, but this machine has memory only on {} {}; set buffers = {{ node = {{ number = {} }} }} or leave it out (fio: numa_mem_policy)",
        if there.len() == 1 { "node" } else { "nodes" },
        there.join(", "),
        nodes.first().unwrap_or(&0)
    ))
}

/// The nodes with memory. A kernel without NUMA has one.
pub(crate) fn nodes() -> Vec<u32> {
    let listed = std::fs::read_to_string("/sys/devices/system/node/has_memory").ok();
    listed.map(|text| numbers(&text)).filter(|n| !n.is_empty()).unwrap_or_else(|| vec![0])
}

/// Parses "0-2,5".
fn numbers(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            // The kernel has at most 1024.
            numbers.extend(first..=last.min(first.saturating_add(1024)));
        }
    }
    numbers
}

/// The node of the device below a file, or below its future directory.
fn device_node(sys: &Path, path: &Path, layer: u32) -> Option<u32> {
    let absolute = std::path::absolute(path).ok()?;
    let about = absolute.ancestors().find_map(|p| p.metadata().ok())?;
    let device = if about.file_type().is_block_device() { about.rdev() } else { about.dev() };
    let (major, minor) = (libc::major(device), libc::minor(device));
    let entry = sys.join(format!("dev/block/{major}:{minor}")).canonicalize().ok()?;
    node_of_block_device(sys, &entry, layer)
}

/// The node of a block device by its directory in sysfs: that of the nearest bus device above it, or of the devices it is stacked
/// on.
fn node_of_block_device(sys: &Path, entry: &Path, layer: u32) -> Option<u32> {
    if layer > MOST_LAYERS {
        return None;
    }
    let reported_node = |directory: &Path| -> Option<i64> {
        std::fs::read_to_string(directory.join("numa_node")).ok()?.trim().parse().ok()
    };
    // From the partition to its disk, the controller, and the controller's slot. -1 means unknown.
    if let Some(node) = entry.ancestors().take_while(|p| p.starts_with(sys)).find_map(reported_node) {
        return u32::try_from(node).ok();
    }
    let below: Vec<PathBuf> = std::fs::read_dir(entry.join("slaves"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| e.path().canonicalize().ok())
        .collect();
    if !below.is_empty() {
        let mut of_all = below.iter().map(|device| node_of_block_device(sys, device, layer + 1));
        let first = of_all.next().flatten();
        // Devices on different nodes have no common node.
        return first.filter(|_| of_all.all(|node| node == first));
    }
    let image = std::fs::read_to_string(entry.join("loop/backing_file")).ok()?;
    device_node(sys, Path::new(image.trim_end()), layer + 1)
}

/// Sets the memory policy of the calling thread if its stream requests one: for all memory allocated from here on, its buffers
/// and the page cache that it fills.
pub(crate) fn settle(wanted: Node) -> Result<(), Errno> {
    const MPOL_PREFERRED: libc::c_int = 1;
    const MPOL_BIND: libc::c_int = 2;
    const MPOL_INTERLEAVE: libc::c_int = 3;
    let (policy, mask) = match wanted {
        Node::Local | Node::Number(_) | Node::Device => return Ok(()),
        Node::Bind(nodes) => (MPOL_BIND, nodes.mask()),
        Node::Prefer(node) => (MPOL_PREFERRED, 1u64.checked_shl(node).ok_or(Errno::INVAL)?),
        Node::Interleave(nodes) => (MPOL_INTERLEAVE, nodes.mask()),
    };
    // The kernel uses one bit less than given.
    let most = u64::BITS as usize + 1;
    // SAFETY: the mask has the given number of bits, and is only read.
    let refused = unsafe { libc::syscall(libc::SYS_set_mempolicy, policy, &raw const mask, most) };
    if refused == 0 {
        return Ok(());
    }
    match std::io::Error::last_os_error().raw_os_error() {
        // A kernel without NUMA: its only node has all the memory.
        Some(libc::ENOSYS) if mask == 1 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EINVAL))),
    }
}

/// Binds untouched memory to a node.
pub(crate) fn bind(base: NonNull<c_void>, length: usize, node: u32) -> Result<(), Errno> {
    const MPOL_BIND: libc::c_int = 2;
    const WORD: usize = u64::BITS as usize;
    let mut mask = [0u64; 16];
    let word = mask.get_mut(node as usize / WORD).ok_or(Errno::INVAL)?;
    *word = 1 << (node as usize % WORD);
    // The kernel uses one bit less than given.
    let most = mask.len() * WORD + 1;
    // SAFETY: the range is the caller's own mapping; the mask has the given number of bits; contents are not touched.
    let refused = unsafe {
        libc::syscall(libc::SYS_mbind, base.as_ptr(), length, MPOL_BIND, mask.as_ptr(), most, 0u32)
    };
    if refused == 0 {
        return Ok(());
    }
    match std::io::Error::last_os_error().raw_os_error() {
        // A kernel without NUMA: its only node has all the memory.
        Some(libc::ENOSYS) if node == 0 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EINVAL))),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The node of the page at an address.
    pub(crate) fn node_of_address(base: NonNull<c_void>) -> Option<u32> {
        let (pages, mut status) = ([base.as_ptr()], [-1i32]);
        let nodes = std::ptr::null::<libc::c_int>();
        // SAFETY: without target nodes the call only queries; both arrays have one entry.
        let asked = unsafe {
            libc::syscall(libc::SYS_move_pages, 0, 1usize, pages.as_ptr(), nodes, status.as_mut_ptr(), 0)
        };
        (asked == 0).then(|| u32::try_from(status[0]).ok()).flatten()
    }

    #[test]
    fn lists_of_nodes_are_read() {
        assert_eq!(numbers("0\n"), [0]);
        assert_eq!(numbers("0-2,5\n"), [0, 1, 2, 5]);
        assert!(numbers("\n").is_empty());
        assert!(!nodes().is_empty());
    }

    #[test]
    fn a_node_that_is_not_there_is_named() {
        assert_eq!(refusal(Node::Number(nodes()[0])), None);
        assert_eq!(refusal(Node::Device), None);
        let said = refusal(Node::Number(999)).unwrap();
        assert!(said.contains("NUMA node 999") && said.contains("memory only on"), "{said}");
    }

    /// Policy of the calling thread, and the first 64 bits of its nodes.
    fn policy() -> Option<(libc::c_int, u64)> {
        let (mut mode, mut mask) = (0, [0u64; 16]);
        let nobody = std::ptr::null::<libc::c_void>();
        // SAFETY: space for a number, and for the given number of bits.
        let asked = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                mask.as_mut_ptr(),
                1024usize,
                nobody,
                0usize,
            )
        };
        (asked == 0).then_some((mode, mask[0]))
    }

    #[test]
    fn a_thread_has_the_policy_of_its_stream() {
        let first = nodes()[0];
        let set = fathom_workload::Nodes::of(&[first]).unwrap();
        let bit = 1u64 << first;
        for (wanted, expected) in [
            (Node::Local, (0, 0)),
            (Node::Number(first), (0, 0)),
            (Node::Prefer(first), (1, bit)),
            (Node::Bind(set), (2, bit)),
            (Node::Interleave(set), (3, bit)),
        ] {
            assert_eq!(refusal(wanted), None);
            // Policies are inherited, so use a separate thread in the test.
            let before = policy();
            let found =
                std::thread::spawn(move || settle(wanted).map(|()| policy())).join().unwrap().unwrap();
            match (found, expected) {
                (None, _) => {
                    println!("skipped a_thread_has_the_policy_of_its_stream: get_mempolicy is not to be had")
                }
                (found, (0, _)) => assert_eq!(found, before),
                (found, expected) => assert_eq!(found, Some(expected), "{wanted:?}"),
            }
        }
        let two = fathom_workload::Nodes::of(&[first, 63]).unwrap();
        assert!(refusal(Node::Interleave(two)).unwrap().contains("NUMA node 63"));
        assert!(refusal(Node::Prefer(63)).is_some() && refusal(Node::Bind(two)).is_some());
    }

    /// A sysfs with a disk in a slot of node 1, its partition, a mirror on that, and a disk whose slot reports no node.
    #[test]
    fn the_node_of_a_device_is_that_of_its_slot() {
        let dir = tempfile::tempdir().unwrap();
        let sys = dir.path().canonicalize().unwrap();
        let put = |path: &str, text: &str| {
            let path = sys.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let link = |from: &str, to: &str| {
            std::fs::create_dir_all(sys.join(from).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(sys.join(to), sys.join(from)).unwrap();
        };
        put("devices/pci/0000:01/numa_node", "1\n");
        put("devices/pci/0000:01/nvme/nvme0/nvme0n1/nvme0n1p1/partition", "1\n");
        put("devices/pci/0000:02/numa_node", "-1\n");
        put("devices/pci/0000:02/block/sda/size", "8\n");
        put("devices/virtual/block/md0/size", "8\n");
        put("devices/virtual/block/md1/size", "8\n");
        link(
            "devices/virtual/block/md0/slaves/nvme0n1p1",
            "devices/pci/0000:01/nvme/nvme0/nvme0n1/nvme0n1p1",
        );
        link(
            "devices/virtual/block/md1/slaves/nvme0n1p1",
            "devices/pci/0000:01/nvme/nvme0/nvme0n1/nvme0n1p1",
        );
        link("devices/virtual/block/md1/slaves/sda", "devices/pci/0000:02/block/sda");
        put("devices/virtual/block/loop0/loop/backing_file", "/no such directory/image\n");
        let of = |entry: &str| node_of_block_device(&sys, &sys.join(entry), 0);
        assert_eq!(of("devices/pci/0000:01/nvme/nvme0/nvme0n1"), Some(1));
        assert_eq!(of("devices/pci/0000:01/nvme/nvme0/nvme0n1/nvme0n1p1"), Some(1));
        assert_eq!(of("devices/pci/0000:02/block/sda"), None);
        assert_eq!(of("devices/virtual/block/md0"), Some(1));
        assert_eq!(of("devices/virtual/block/md1"), None, "its disks are on different nodes");
        assert_eq!(of("devices/virtual/block/loop0"), None);
        // The real sysfs: any node that it reports must exist.
        let here = node_of(Node::Device, Path::new("."));
        assert!(here.is_none_or(|n| nodes().contains(&n)));
    }
}
