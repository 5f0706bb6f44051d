//! Where a workload's files are: whether a device is below them, and whether it is still the same one.

use super::Failure;
use fathom_observe::device;
use fathom_workload::{Files, Program, Workload};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Whether the workload can reach a block device; most workloads that test the machine itself cannot.
pub fn meets_a_device(workload: &Workload, directory: &Path) -> bool {
    let threads = || workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    let moves = threads().any(|t| match &t.program {
        Program::Stream(stream) => stream.backend.has_files(),
        Program::Flow(_) => true,
    });
    let meets = |path: &Path| !device::stack_of(&nearest_existing(path)).devices.is_empty();
    moves && (meets(directory) || elsewhere(workload, directory).iter().any(|path| meets(path)))
}

/// The places of file sets that are not below the directory.
fn elsewhere(workload: &Workload, directory: &Path) -> Vec<PathBuf> {
    let paths = workload.filesets.iter().flat_map(|set| match &set.files {
        Files::List(paths) => paths.iter().collect::<Vec<_>>(),
        Files::Numbered { prefix, .. } => vec![prefix],
        Files::Tree(tree) => vec![&tree.root],
    });
    let paths = paths.filter(|path| path.is_absolute() && !path.starts_with(directory));
    paths.take(MOST_PLACES).cloned().collect()
}

/// The measured file system. If it is unmounted, its path leads to whatever is below the mount point: files would be
/// created there, and another disk measured under this one's name.
pub(super) struct MeasuredFileSystem {
    directory: PathBuf,
    device: Option<u64>,
}

impl MeasuredFileSystem {
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.into(), device: Self::device_at(directory) }
    }

    fn device_at(directory: &Path) -> Option<u64> {
        directory.metadata().ok().map(|m| m.dev())
    }

    pub fn still_there(&self) -> Result<(), Failure> {
        if self.device.is_some() && self.device != Self::device_at(&self.directory) {
            return Err(Failure::Gone(self.directory.clone()));
        }
        Ok(())
    }
}

/// The directories of the files, each once: a set of a million files is not a million places.
pub(super) fn places_of(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut parents: Vec<&Path> = Vec::new();
    let mut places = Vec::new();
    for path in paths {
        let parent = path.parent().unwrap_or(path);
        // A file may be a mount point or a link; with more than a few in a directory they are not checked one by one.
        let is_new = parents.last() != Some(&parent) && !parents.contains(&parent);
        // Devices share a directory, but are separate places.
        if is_new || is_device(path) {
            parents.push(parent);
            places.push(nearest_existing(path));
        }
        if places.len() >= MOST_PLACES {
            break;
        }
    }
    places
}

fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") && path.metadata().is_ok_and(|about| about.file_type().is_block_device())
}

/// Directories beyond this number are not checked for their devices.
const MOST_PLACES: usize = 64;

/// The file, or the directory it will be created in.
fn nearest_existing(path: &Path) -> PathBuf {
    let absolute = fathom_state::absolute(path);
    absolute.ancestors().find(|p| p.exists()).map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_sets_elsewhere_are_places_too() {
        let set = |name: &str, files: &str| {
            format!("[[fileset]]\nname = \"{name}\"\nfiles = {files}\nsize = {{ fixed = \"1KiB\" }}\n")
        };
        let sets = [
            set("a", "{ list = [\"here\", \"/t/b\", \"/d/c\"] }"),
            set("b", "{ numbered = { prefix = \"/e/f\", count = 3 } }"),
        ];
        let workload = Workload::from_toml(&format!("name = \"w\"\n{}", sets.concat())).expect("a workload");
        assert_eq!(elsewhere(&workload, Path::new("/t")), [PathBuf::from("/d/c"), PathBuf::from("/e/f")]);
    }
}
