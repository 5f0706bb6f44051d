//! The kernel side of a cell: its knobs, devices, values and file system. Checks values before any change; the setter
//! sets and restores them.

use super::stage::StageRequest;
use super::vary::{PRESENT, Target, Varied};
use crate::exit::Usage;
use crate::output;
use fathom_observe::device::{self, DeviceStack};
use fathom_observe::files::{KernelFiles as _, Live};
use fathom_observe::knobs::catalogue::{Home, Values, value_in};
use fathom_observe::knobs::disk::can_make;
use fathom_observe::knobs::{FileSystem, Knob, KnobFiles as _, Place, setter, target};
use std::path::Path;

/// The running machine; static, since setters refer to it until the program ends.
pub static LIVE: Live = Live;

/// Whether a knob belongs to the measured device rather than to the whole machine.
pub fn is_of_device(knob: &Knob) -> bool {
    knob.entry.home != Home::Vm
}

/// The devices below a directory, a file or a block device.
pub fn stack_of(path: &Path) -> DeviceStack {
    target::stack_of_device(&LIVE, path).unwrap_or_else(|| device::stack_of(path))
}

/// Checks a knob's values at its places, and replaces the word "present" by the current value. Returns that value.
pub fn look(varied: &mut Varied, places: &[Place]) -> Result<Option<String>, Usage> {
    let usage = |e: fathom_observe::knobs::KnobError| Usage(e.to_string());
    for place in places {
        setter::may_set(&LIVE, place).map_err(usage)?;
    }
    let mut now: Vec<String> =
        places.iter().filter_map(|p| LIVE.read(&p.path).ok()).map(|text| value_in(&text)).collect();
    now.dedup();
    let before = if now.len() == 1 { now.pop() } else { None };
    for value in varied.values.iter_mut().filter(|v| *v == PRESENT) {
        *value = before.clone().ok_or_else(|| {
            Usage(format!(
                "{}={PRESENT}: the devices have different values, or the value cannot be read; give one",
                varied.name
            ))
        })?;
    }
    for place in places {
        // Only the scheduler knows its tunable's valid values, once it is active.
        if place.knob.entry.values == Values::Tunable {
            continue;
        }
        for value in &varied.values {
            place
                .knob
                .check(&LIVE, &place.path, value)
                .map_err(|e| Usage(format!("{e}. Nothing was changed, nothing was run")))?;
        }
    }
    Ok(before)
}

/// Checks that the requested file systems can be made.
pub fn look_at_disk(asked: &StageRequest) -> Result<(), Usage> {
    for varied in asked.varied.iter().filter(|v| v.target == Target::FileSystem) {
        if let Some(kind) = varied.values.iter().find(|k| !can_make(k)) {
            return Err(Usage(format!(
                "fs={kind}: there is no mkfs.{kind} here; install it, or leave {kind} out"
            )));
        }
    }
    LIVE.may_write(Path::new("/dev/loop-control")).map_err(|e| {
        Usage(format!("fs=... makes a loop device, which needs root (/dev/loop-control: {e}). Nothing was made, nothing was run"))
    })?;
    let space = LIVE.space_of(&asked.image_in).map_err(|e| {
        Usage(format!("--image-in {}: {e}; a directory is expected", asked.image_in.display()))
    })?;
    if asked.image_in.is_symlink() && !output::is_our_link(&asked.image_in) {
        return Err(Usage(format!(
            "--image-in {}: it is a symbolic link that other users can change; name the directory that it leads to",
            asked.image_in.display()
        )));
    }
    if !asked.image_in.is_dir() {
        return Err(Usage(format!("--image-in {}: a directory is expected", asked.image_in.display())));
    }
    if space.free_bytes < asked.image_bytes {
        return Err(Usage(format!(
            "--image-size: {} bytes are asked for, and {} has {} left",
            asked.image_bytes,
            asked.image_in.display(),
            space.free_bytes
        )));
    }
    Ok(())
}

/// The file system of a cell; `None` if none is made. "defaults" means no options.
pub fn file_system(varied: &[Varied], levels: &[usize]) -> Option<FileSystem> {
    let value = |target: Target| {
        let at = varied.iter().position(|v| v.target == target)?;
        varied[at].values.get(levels[at]).cloned()
    };
    let options = |target: Target| value(target).filter(|v| v != "defaults").unwrap_or_default();
    Some(FileSystem {
        kind: value(Target::FileSystem)?,
        mkfs: options(Target::Mkfs).split_whitespace().map(String::from).collect(),
        mount: options(Target::Mount),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cells_file_system_is_put_together_from_its_factors() {
        let varied = |name: &str, target: Target, values: &[&str]| Varied {
            name: name.into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            target,
        };
        let all = [
            varied("fs", Target::FileSystem, &["ext4", "xfs"]),
            varied("mount", Target::Mount, &["defaults", "noatime,nodiratime"]),
            varied("mkfs", Target::Mkfs, &["-b 1024"]),
        ];
        let made = file_system(&all, &[1, 1, 0]).expect("a file system");
        assert_eq!((made.kind.as_str(), made.mount.as_str()), ("xfs", "noatime,nodiratime"));
        assert_eq!(made.mkfs, ["-b", "1024"]);
        assert_eq!(file_system(&all, &[0, 0, 0]).expect("another").mount, "");
        assert_eq!(file_system(&all[1..], &[0, 0]), None);
    }
}
