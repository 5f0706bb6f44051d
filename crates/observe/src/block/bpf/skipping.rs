//! Kernels that do not always run BPF programs. Some kernels built for sandboxes keep other processes' programs away from PID 1:
//! while it runs on a CPU, a program that it did not load is not entered there, also for an interrupt that has nothing to do with
//! PID 1, and the kernel does not count that. On a busy disk that hides a few completions in ten thousand.

use std::path::Path;

/// What a user should know before such a kernel counts.
pub const SKIPPING: &str =
    "this kernel does not run BPF programs while process 1 runs: requests that end then are not counted";

/// The member of `struct bpf_prog_aux` by which such a kernel knows the programs that PID 1 loaded.
const MEMBER: &[u8] = b"\0init_owned\0";

/// Whether this is such a kernel, by its own description.
#[must_use]
pub fn skips_programs() -> bool {
    described(Path::new("/sys/kernel/btf/vmlinux"))
}

fn described(btf: &Path) -> bool {
    let found = |names: &[u8]| names.windows(MEMBER.len()).any(|name| name == MEMBER);
    std::fs::read(btf).is_ok_and(|names| found(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_member_is_a_whole_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let btf = dir.path().join("vmlinux");
        let described_by = |names: &[u8]| {
            std::fs::write(&btf, names).expect("room");
            described(&btf)
        };
        assert!(described_by(b"\xEB\x9F\0user\0init_owned\0load_time\0"));
        assert!(!described_by(b"\xEB\x9F\0user\0init_owned_by\0reinit_owned\0"));
        assert!(!described(&dir.path().join("missing")));
    }
}
