//! Checks that a directory is the same for all ranks where the workload needs that: rank 0 creates a file and the
//! others look for it. Found out before anything is measured; an hour later it would be "no such file".

use super::comm::Comm;
use super::hosts::Hosts;
use fathom_workload::{Files, Workload};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directories of files shared by several ranks.
fn shared_directories(workload: &Workload) -> Vec<PathBuf> {
    let concerned =
        |name: &str| workload.ranks.shared.contains_key(name) || !workload.ranks.reordered.is_empty();
    let mut found = BTreeSet::new();
    for set in workload.filesets.iter().filter(|s| concerned(&s.name)) {
        let path = match &set.files {
            Files::Tree(tree) => Some(tree.root.clone()),
            files => files.path(0),
        };
        let Some(path) = path else { continue };
        let absolute = std::path::absolute(&path).unwrap_or(path);
        found.extend(absolute.ancestors().skip(1).find(|p| p.is_dir()).map(Path::to_path_buf));
    }
    found.into_iter().collect()
}

/// Collective. `Some(Err)` on rank 0: which ranks do not see which directory.
pub(super) fn check(comm: &mut Comm, hosts: &Hosts, workload: &Workload) -> Option<Result<(), String>> {
    if comm.alone() || !workload.needs_a_shared_directory() {
        return Some(Ok(()));
    }
    let made = comm.is_first().then(|| make(&shared_directories(workload)));
    let made = comm.tell(made)?;
    let missing = made.iter().position(|file| !file.is_file());
    let mine: Vec<(u32, usize)> = missing.map(|at| (comm.team.rank(), at)).into_iter().collect();
    let all = comm.collect(mine, |all, more| all.extend(more));
    if comm.is_first() {
        for file in &made {
            let _ = std::fs::remove_file(file);
        }
    }
    let Some(blind) = all? else { return Some(Ok(())) };
    let Some(&(_, at)) = blind.first() else { return Some(Ok(())) };
    let ranks: Vec<String> =
        blind.iter().take(8).map(|(r, _)| format!("{r} on {}", hosts.host(*r))).collect();
    let more = if blind.len() > 8 { format!(" and {} more", blind.len() - 8) } else { String::new() };
    let directory = made.get(at).and_then(|f| f.parent()).unwrap_or(Path::new("?")).display().to_string();
    Some(Err(format!(
        "{directory} is not one directory for all ranks: a file that rank 0 on {} made there is not visible to rank {}{more}. The ranks of this workload \
         share files or read each other's: mount the file system on every host, or give each rank separate files",
        hosts.host(0),
        ranks.join(", rank ")
    )))
}

/// A file in each; directories that are not writable are left to the run, whose error says more.
fn make(directories: &[PathBuf]) -> Vec<PathBuf> {
    let name = format!(".fathom-ranks-{}-{}", std::process::id(), crate::observing::monotonic_ns());
    let file = |directory: &PathBuf| {
        let path = directory.join(&name);
        std::fs::File::create_new(&path).is_ok().then_some(path)
    };
    directories.iter().filter_map(file).collect()
}
