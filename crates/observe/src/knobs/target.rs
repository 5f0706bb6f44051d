//! The location of a knob for a given path: a device's queue, a bdi, or machine-wide.
//!
//! Requests are made for real disks and loop devices, so request settings apply to those below a device-mapper, md or NVMe multipath
//! device. Read-ahead
//! belongs to the device directly below the file system; btrfs, NFS and FUSE keep it in their own bdi.

use super::catalogue::{Home, Knob};
use super::error::KnobError;
use super::files::KnobFiles;
use crate::device::{Device, DeviceKind, DeviceStack, nvme};
use std::path::{Path, PathBuf};

/// Directory of the machine's memory settings.
const VM: &str = "/proc/sys/vm";

/// A knob at a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The knob.
    pub knob: Knob,
    /// Its owner: "loop0", "btrfs-1", "memory".
    pub device: String,
    /// The kernel's file.
    pub path: PathBuf,
}

impl Place {
    /// The directory that is locked while it is changed.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        if directory.ends_with("iosched") {
            return directory.parent().unwrap_or(directory).to_path_buf();
        }
        directory.to_path_buf()
    }
}

/// All places of a knob for a device stack: one for each device concerned.
///
/// # Errors
/// If there is no such device, or it lacks the knob.
pub fn places(files: &dyn KnobFiles, knob: &Knob, on: &DeviceStack) -> Result<Vec<Place>, KnobError> {
    let not_here = |why: String| KnobError::NotHere { knob: knob.name.clone(), why };
    let homes: Vec<(String, PathBuf)> = match knob.entry.home {
        Home::Vm => vec![("memory".into(), PathBuf::from(VM))],
        Home::Queue => request_makers(on).into_iter().filter_map(|d| queue(files, d)).collect(),
        Home::ReadAhead => match own_bdi(files, on) {
            Some(bdi) => vec![bdi],
            None => on.tops().filter_map(|d| queue(files, d)).collect(),
        },
    };
    if homes.is_empty() {
        let note = on.note.clone().unwrap_or_else(|| "no device has a request queue".into());
        return Err(not_here(format!("there is no block device below what is measured ({note})")));
    }
    let mut found: Vec<Place> = Vec::new();
    for (device, home) in homes {
        let path = home.join(file_of(knob));
        if !found.iter().any(|p| p.path == path) {
            found.push(Place { knob: knob.clone(), device, path });
        }
    }
    // A tunable comes and goes with its scheduler; whether one of the requested schedulers has it is seen when they are tried.
    let comes_and_goes = knob.name.starts_with("iosched/");
    if let Some(missing) = found.iter().find(|p| !comes_and_goes && files.read(&p.path).is_err()) {
        return Err(not_here(format!("{} is not there or cannot be read", missing.path.display())));
    }
    Ok(found)
}

/// The stack of a block device given by name ("/dev/loop0", or a link to it).
#[must_use]
pub fn stack_of_device(files: &dyn KnobFiles, path: &Path) -> Option<DeviceStack> {
    let node = files.canonical(path).ok()?;
    let name = node.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    let sys = files.canonical(&Path::new("/sys/class/block").join(&name)).ok()?;
    let number = files.trimmed(&sys.join("dev"))?;
    let (major, minor) = number.split_once(':')?;
    let paths = nvme::paths(files, &name);
    let kind = if name.starts_with("dm-") {
        DeviceKind::DeviceMapper
    } else if name.starts_with("md") {
        DeviceKind::Md
    } else if name.starts_with("loop") {
        DeviceKind::Loop
    } else if !paths.is_empty() {
        DeviceKind::Multipath
    } else {
        DeviceKind::Disk
    };
    let mut devices = vec![Device {
        name: name.clone(),
        number: (major.parse().ok()?, minor.parse().ok()?),
        kind,
        role: crate::device::Role::Data,
        level: 0,
        above: None,
        image_on: None,
        in_memory: false,
        sys: sys.clone(),
    }];
    for below in files.list(&sys.join("slaves")).unwrap_or_default().into_iter().chain(paths) {
        let Ok(sys) = files.canonical(&Path::new("/sys/class/block").join(&below)) else { continue };
        devices.push(Device {
            name: below,
            number: (0, 0),
            kind: DeviceKind::Disk,
            role: crate::device::Role::Below,
            level: 1,
            above: Some(name.clone()),
            image_on: None,
            in_memory: false,
            sys,
        });
    }
    Some(DeviceStack { devices, method: "diskstats".into(), ..DeviceStack::default() })
}

/// Whether a path is a valid place of a device's knob, one that [`places`] can have found. A journal's entries are checked against this
/// before they are used.
#[must_use]
pub fn is_place_of(files: &dyn KnobFiles, knob: &str, device: &str, path: &Path) -> bool {
    let Some(knob) = Knob::find(knob) else { return false };
    let is_name = Path::new(device).file_name().is_some_and(|name| name == device);
    if !is_name {
        return false;
    }
    let class = |class: &str| Path::new("/sys/class").join(class).join(device);
    let of_queue = || files.canonical(&class("block")).ok().map(|sys| sys.join("queue"));
    let homes = match knob.entry.home {
        Home::Vm => [Some(PathBuf::from(VM)), None, None],
        Home::Queue => [of_queue(), None, None],
        Home::ReadAhead => [of_queue(), Some(class("bdi")), files.canonical(&class("bdi")).ok()],
    };
    homes.into_iter().flatten().any(|home| home.join(file_of(&knob)) == path)
}

/// The knob's file below its location.
fn file_of(knob: &Knob) -> &str {
    knob.name.strip_prefix("vm.").unwrap_or(&knob.name)
}

/// The devices whose queues hold the requests.
fn request_makers(on: &DeviceStack) -> Vec<&Device> {
    let mut makers = Vec::new();
    let mut look_at: Vec<&Device> = on.tops().collect();
    while let Some(device) = look_at.pop() {
        let is_head = |d: &Device| d.kind == DeviceKind::Multipath;
        let of_head = || on.devices.iter().any(|d| d.above.as_deref() == Some(&device.name) && is_head(d));
        let remapped = match device.kind {
            DeviceKind::DeviceMapper | DeviceKind::Md | DeviceKind::Multipath => true,
            DeviceKind::Partition => of_head(),
            _ => false,
        };
        let below: Vec<&Device> =
            on.devices.iter().filter(|d| remapped && d.above.as_deref() == Some(&device.name)).collect();
        if below.is_empty() { makers.push(device) } else { look_at.extend(below) }
    }
    makers.sort_by(|a, b| a.name.cmp(&b.name));
    makers
}

/// The queue of a device and the name of its disk; partitions share their disk's.
fn queue(files: &dyn KnobFiles, device: &Device) -> Option<(String, PathBuf)> {
    let has_queue = |sys: &Path| files.list(&sys.join("queue")).is_ok();
    let disk =
        if has_queue(&device.sys) { &device.sys } else { device.sys.parent().filter(|p| has_queue(p))? };
    Some((disk.file_name()?.to_str()?.to_string(), disk.join("queue")))
}

/// The bdi of a file system that is not on a single disk.
fn own_bdi(files: &dyn KnobFiles, on: &DeviceStack) -> Option<(String, PathBuf)> {
    let mount = on.mount.as_ref()?;
    let directory = if mount.kind == "btrfs" {
        let root = Path::new("/sys/fs/btrfs");
        let has_ours = |uuid: &&String| {
            let members = files.list(&root.join(uuid).join("devices")).unwrap_or_default();
            on.tops().any(|d| members.contains(&d.name))
        };
        let uuid = files.list(root).ok()?.iter().find(has_ours)?.clone();
        files.canonical(&root.join(uuid).join("bdi")).ok()?
    } else if mount.device.0 == 0 && on.devices.is_empty() {
        PathBuf::from(format!("/sys/class/bdi/{}:{}", mount.device.0, mount.device.1))
    } else {
        return None;
    };
    files.read(&directory.join("read_ahead_kb")).ok()?;
    Some((directory.file_name()?.to_str()?.to_string(), directory))
}
