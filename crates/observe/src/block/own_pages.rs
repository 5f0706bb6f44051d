//! Faults in this program's own pages before its reads are watched. Otherwise the measured threads and the event reader would fetch
//! uncached program pages from the watched disk on demand: unwanted reads counted as ours, and a delay inside a measured call. Seen after
//! another process had dropped the machine's caches: up to 550 KiB in a second. Mapped pages stay, whatever is dropped.

use crate::files::KernelFiles;
use rustix::mm::{Advice, madvise};
use std::path::Path;

/// Reads in all of the program; returns whether the kernel did. Kernels before 5.14 cannot, and nothing depends on it.
pub(super) fn fetch(files: &impl KernelFiles) -> bool {
    let myself = Path::new("/proc/self");
    let (Ok(program), Ok(maps)) = (files.read_link(&myself.join("exe")), files.read(&myself.join("maps")))
    else {
        return false;
    };
    of_program(&maps, &program).into_iter().all(|(start, end)| {
        // SAFETY: the pages are only read in, as touching them would do; the kernel refuses ranges that are gone.
        unsafe { madvise(start as *mut _, end - start, Advice::LinuxPopulateRead) }.is_ok()
    })
}

/// The readable mappings of the program's file, as [start, end).
fn of_program(maps: &str, program: &Path) -> Vec<(usize, usize)> {
    let range = |line: &str| {
        // 55d0c0a00000-55d0c0b00000 r-xp 00001000 fe:00 1234      /usr/bin/fathom
        let (addresses, rest) = line.split_once(' ')?;
        let path = rest.find('/').map(|at| Path::new(&rest[at..]))?;
        if path != program || !rest.starts_with('r') {
            return None;
        }
        let (start, end) = addresses.split_once('-')?;
        Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
    };
    maps.lines().filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Live;

    #[test]
    fn only_the_programs_own_file_is_taken() {
        let maps = "55d0c0a00000-55d0c0b00000 r--p 00000000 fe:00 1234      /opt/a b/fathom\n\
                    55d0c0b00000-55d0c0c00000 r-xp 00100000 fe:00 1234      /opt/a b/fathom\n\
                    55d0c0c00000-55d0c0d00000 ---p 00200000 fe:00 1234      /opt/a b/fathom\n\
                    55d0c1a00000-55d0c1b00000 rw-p 00000000 00:00 0         [heap]\n\
                    7f00c0a00000-7f00c0b00000 r-xp 00000000 fe:00 77        /usr/lib/libc.so.6\n\
                    no line of this file\n";
        let found = of_program(maps, Path::new("/opt/a b/fathom"));
        assert_eq!(found, [(0x55d0_c0a0_0000, 0x55d0_c0b0_0000), (0x55d0_c0b0_0000, 0x55d0_c0c0_0000)]);
    }

    #[test]
    fn all_of_this_test_is_in_memory_afterwards() {
        if !fetch(&Live) {
            println!("skipped: this kernel has no MADV_POPULATE_READ (Linux 5.14)");
            return;
        }
        let program = std::fs::read_link("/proc/self/exe").unwrap();
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut code = false;
        let mut sizes = (0, 0);
        for line in smaps.lines() {
            let kib = || line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
            match line {
                _ if line.contains(" r-xp ") => code = line.ends_with(&*program.to_string_lossy()),
                _ if line.contains("-") && line.contains("p ") => code = false,
                _ if code && line.starts_with("Size:") => sizes.0 += kib(),
                _ if code && line.starts_with("Rss:") => sizes.1 += kib(),
                _ => {}
            }
        }
        assert!(sizes.0 > 0 && sizes.0 == sizes.1, "{sizes:?}");
    }
}
