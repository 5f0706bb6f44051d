//! Names of the kernel's functions by address, from `/proc/kallsyms`.

use crate::files::KernelFiles;
use std::path::Path;

/// The kernel's functions in order of their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    starts: Vec<u64>,
    /// Where each name begins and ends in `names`.
    ranges: Vec<(u32, u32)>,
    names: String,
}

impl Symbols {
    /// Reads the symbols of the running kernel. The error is a sentence with the reason.
    pub fn read(files: &dyn KernelFiles) -> Result<Self, String> {
        let text = files.read(Path::new("/proc/kallsyms")).map_err(|why| format!("/proc/kallsyms: {why}"))?;
        let symbols = Self::of(&text);
        if symbols.starts.is_empty() {
            return Err("/proc/kallsyms hides the addresses of the kernel's functions: `sysctl kernel.kptr_restrict=1` shows them to root".into());
        }
        Ok(symbols)
    }

    fn of(text: &str) -> Self {
        let mut found: Vec<(u64, &str)> = Vec::new();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let address = u64::from_str_radix(address, 16).unwrap_or(0);
            if address != 0 && matches!(kind, "t" | "T" | "w" | "W") {
                // "ext4_sync_file.isra.0": what the compiler made of a function.
                let plain = name.split('.').next().filter(|plain| !plain.is_empty());
                found.push((address, plain.unwrap_or(name)));
            }
        }
        // Of several names of one address the first stays.
        found.sort_by_key(|f| f.0);
        found.dedup_by_key(|f| f.0);
        let mut symbols = Self::default();
        for (address, name) in found {
            let from = symbols.names.len() as u32;
            symbols.names.push_str(name);
            symbols.starts.push(address);
            symbols.ranges.push((from, symbols.names.len() as u32));
        }
        symbols
    }

    /// The function that a call returns to. A call may be the last instruction of a function: the address before it counts.
    #[must_use]
    pub fn name(&self, returns_to: u64) -> Option<&str> {
        let at = self.starts.partition_point(|&start| start < returns_to).checked_sub(1)?;
        let (from, to) = self.ranges[at];
        self.names.get(from as usize..to as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn an_address_belongs_to_the_function_before_it() {
        let text = "ffffffff81000200 T vfs_fsync_range\nffffffff81000100 t ext4_sync_file.isra.0\nffffffff81000100 t alias\n\
                    ffffffff81000180 d some_data\nffffffff81000300 t jbd2_log_wait_commit\t[jbd2]\n";
        let symbols = Symbols::read(&Fake::new().file("/proc/kallsyms", text)).expect("reads");
        assert_eq!(symbols.name(0xffff_ffff_8100_0190), Some("ext4_sync_file"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0200), Some("ext4_sync_file"), "returns behind its end");
        assert_eq!(symbols.name(0xffff_ffff_8100_0201), Some("vfs_fsync_range"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0400), Some("jbd2_log_wait_commit"));
        assert_eq!(symbols.name(0xffff_ffff_8100_0100), None);
    }

    #[test]
    fn hidden_addresses_are_said() {
        let hidden = Fake::new().file("/proc/kallsyms", "0000000000000000 T vfs_fsync_range\n");
        let why = Symbols::read(&hidden).expect_err("they are hidden");
        assert!(why.contains("kptr_restrict"), "{why}");
        assert!(Symbols::read(&Fake::new()).is_err());
    }
}
