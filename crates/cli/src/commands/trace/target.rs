//! Which devices a command line name means: a block device, a kernel name, or those below a file or directory.

use crate::exit::Usage;
use fathom_observe::block::{Watched, watched};
use fathom_observe::device::stack_of;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// The devices of a target; never empty.
pub fn devices(target: &Path) -> anyhow::Result<Vec<Watched>> {
    let shown = target.display();
    match std::fs::metadata(target) {
        Ok(found) if found.file_type().is_block_device() => {
            let (major, minor) = (libc::major(found.rdev()), libc::minor(found.rdev()));
            let sys = format!("/sys/dev/block/{major}:{minor}");
            let name = whole_device(Path::new(&sys))
                .ok_or_else(|| Usage(format!("{shown}: /sys has no entry for the device {major}:{minor}")))?;
            one(&name, &shown.to_string())
        }
        Ok(found) if !found.is_dir() && !found.is_file() => {
            Err(Usage(format!("{shown} is neither a block device nor a file or directory")).into())
        }
        Ok(_) => {
            let stack = stack_of(target);
            let devices = watched(&stack);
            if devices.is_empty() {
                let why = stack.note.clone().unwrap_or_else(|| format!("it lies on {}", stack.file_system()));
                return Err(Usage(format!(
                    "{shown} has no block device whose requests could be recorded: {why}"
                ))
                .into());
            }
            Ok(devices)
        }
        Err(e) => {
            // "sda" if no file has that name.
            let name = target.to_str().filter(|n| !n.contains('/'));
            match name.and_then(|n| whole_device(&Path::new("/sys/class/block").join(n))) {
                Some(name) => one(&name, &shown.to_string()),
                None => Err(Usage(format!("{shown}: {e}, and no block device has that name")).into()),
            }
        }
    }
}

fn one(name: &str, shown: &str) -> anyhow::Result<Vec<Watched>> {
    let device = Watched::of_name(name).ok_or_else(|| Usage(format!("{shown}: /sys/block has no {name}")))?;
    Ok(vec![device])
}

/// The kernel name of a device below /sys; for a partition its disk, which has the request queue.
fn whole_device(sys: &Path) -> Option<String> {
    let dir = sys.canonicalize().ok()?;
    let disk = if dir.join("partition").exists() { dir.parent()?.to_path_buf() } else { dir };
    Some(disk.file_name()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_device_is_said_so() {
        let error = |target: &str| devices(Path::new(target)).unwrap_err().to_string();
        assert!(error("no-such-device").contains("no block device has that name"));
        assert!(error("/no/such/file").contains("no block device has that name"));
        assert!(error("/dev/null").contains("neither a block device nor a file"));
        assert!(error("/proc/self").contains("has no block device"), "{}", error("/proc/self"));
    }
}
