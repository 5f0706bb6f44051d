//! Other programs with performance events open: profilers, and tracers whose probes and BPF programs run at events.

use crate::files::KernelFiles;
use std::collections::BTreeSet;
use std::path::Path;

/// The names of those that are visible, in order. Every open file of every process is looked at.
pub(super) fn holders(files: &dyn KernelFiles, own: u32) -> BTreeSet<String> {
    let has_some = |process: &u32| {
        let directory = format!("/proc/{process}/fd");
        let open = files.list(Path::new(&directory)).unwrap_or_default();
        open.iter().any(|number| {
            let target = files.read_link(Path::new(&format!("{directory}/{number}")));
            target.is_ok_and(|target| target == Path::new("anon_inode:[perf_event]"))
        })
    };
    let named = |process: u32| files.trimmed(Path::new(&format!("/proc/{process}/comm")));
    let processes = files.list(Path::new("/proc")).unwrap_or_default();
    let others = processes.iter().filter_map(|name| name.parse::<u32>().ok()).filter(|p| *p != own);
    others.filter(has_some).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn programs_with_events_are_named_and_this_one_is_not() {
        let process = |fake: Fake, id: u32, name: &str, target: &str| {
            fake.file(&format!("/proc/{id}/comm"), &format!("{name}\n"))
                .link(&format!("/proc/{id}/fd/3"), target)
        };
        let fake = process(Fake::new(), 7, "bpftrace", "anon_inode:[perf_event]");
        let fake = process(fake, 8, "fathom", "anon_inode:[perf_event]");
        let fake = process(fake, 9, "systemd", "anon_inode:bpf-prog");
        let fake = process(fake, 10, "bpftrace", "anon_inode:[perf_event]");
        assert_eq!(holders(&fake, 8), BTreeSet::from(["bpftrace".to_owned()]));
        assert!(holders(&Fake::new(), 8).is_empty());
    }
}
