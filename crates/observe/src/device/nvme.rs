//! NVMe namespaces with native multipath. The device with a node, "nvme1n1", has no queue: it sends each request to the namespace of
//! one controller, "nvme1c1n1". Those have neither node nor number in sysfs, but they have counters, and their events carry a number.

use crate::files::KernelFiles;
use std::path::{Path, PathBuf};

/// The paths of a multipath device; empty for any other.
pub(crate) fn paths(files: &dyn KernelFiles, name: &str) -> Vec<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n'));
    let Some((subsystem, space)) = numbers.filter(|(s, n)| is_number(s) && is_number(n)) else {
        return Vec::new();
    };
    let of_it = |other: &String| {
        let rest =
            other.strip_prefix("nvme").and_then(|rest| rest.strip_prefix(subsystem)?.strip_prefix('c'));
        rest.and_then(|rest| rest.split_once('n')).is_some_and(|(c, n)| is_number(c) && n == space)
    };
    files.list(Path::new("/sys/class/block")).unwrap_or_default().into_iter().filter(of_it).collect()
}

/// The number of a path, from the list of counters.
pub(crate) fn hidden_number(files: &dyn KernelFiles, name: &str) -> Option<(u32, u32)> {
    listed(files).find(|(_, listed)| listed == name).map(|(number, _)| number)
}

/// The directory in sysfs of the device with a number, which may be a path.
#[must_use]
pub fn sys_of(files: &dyn KernelFiles, number: (u32, u32)) -> PathBuf {
    let link = PathBuf::from(format!("/sys/dev/block/{}:{}", number.0, number.1));
    if files.canonical(&link).is_ok() {
        return link;
    }
    let hidden = listed(files).find(|(listed, name)| *listed == number && name.starts_with("nvme"));
    hidden.map_or(link, |(_, name)| Path::new("/sys/class/block").join(name))
}

/// Numbers and names in /proc/diskstats.
fn listed(files: &dyn KernelFiles) -> impl Iterator<Item = ((u32, u32), String)> {
    let counters = files.read(Path::new("/proc/diskstats")).unwrap_or_default();
    let of_line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let number = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((number, words.next()?.to_owned()))
    };
    counters.lines().filter_map(of_line).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_path_is_found_by_its_number() {
        let fake = Fake::new()
            .disk("subsys1", "nvme1n1", (259, 1))
            .disk("ctl1", "nvme1c1n1", (0, 1))
            .file("/proc/diskstats", " 259 7 nvme1c1n1 0\n   8 9 sdz 0\n");
        assert_eq!(paths(&fake, "nvme1n1"), ["nvme1c1n1"]);
        for other in ["nvme1n2", "nvme11n1", "nvme1c1n1", "nvme1n1p1", "sda"] {
            assert_eq!(paths(&fake, other), [""; 0], "{other}");
        }
        assert_eq!(hidden_number(&fake, "nvme1c1n1"), Some((259, 7)));
        assert_eq!(sys_of(&fake, (259, 1)), Path::new("/sys/dev/block/259:1"));
        assert_eq!(sys_of(&fake, (259, 7)), Path::new("/sys/class/block/nvme1c1n1"));
        assert_eq!(sys_of(&fake, (8, 9)), Path::new("/sys/dev/block/8:9"), "it is gone");
    }
}
