//! Walks from a file system to its devices, and from each device to its components.

use super::mount::{self, Mount};
use super::{Device, DeviceKind, DeviceStack, Role};
use super::{fuse_server, nvme, server};
use crate::files::KernelFiles;
use std::path::{Path, PathBuf};

/// Deeper than any sane stack; stops a loop device whose file lies on itself.
const DEEPEST: u32 = 16;

/// State of one walk.
pub(super) struct Walk<'a> {
    files: &'a dyn KernelFiles,
    mounts: Vec<Mount>,
    devices: Vec<Device>,
    notes: Vec<String>,
    /// Mounts of the overlays being followed: in a container a layer's name may lead back into the overlay itself.
    overlays: Vec<u64>,
}

/// Length left for NAME in "jbd2/NAME" where thread names have 15 letters.
const CUT_SHORT: usize = 10;

/// Position of a device in the stack.
#[derive(Clone)]
struct StackPosition {
    level: u32,
    above: Option<String>,
    role: Role,
}

impl StackPosition {
    fn top(role: Role) -> Self {
        Self { level: 0, above: None, role }
    }

    fn below(&self, name: &str) -> Self {
        Self { level: self.level + 1, above: Some(name.to_string()), role: Role::Below }
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(files: &'a dyn KernelFiles) -> Self {
        let mounts =
            files.read(Path::new("/proc/self/mountinfo")).map(|t| mount::parse(&t)).unwrap_or_default();
        Self { files, mounts, devices: Vec::new(), notes: Vec::new(), overlays: Vec::new() }
    }

    /// The stack below one or several paths; the mount is the first one's.
    pub(super) fn stack_at(mut self, paths: &[PathBuf]) -> DeviceStack {
        let mut mount = None;
        let (mut in_memory, mut elsewhere) = (Vec::new(), false);
        let mut keys = Vec::new();
        for path in paths {
            // A raw device as the target: the file system that holds its node (devtmpfs) has none of its data.
            if let Some(number) = self.files.block_device_at(path) {
                self.number(number, &StackPosition::top(Role::Data));
                elsewhere = true;
                continue;
            }
            let key = self.files.mount_of(path).ok().map(|k| (k.mount_id, k.device));
            if key.is_some() && keys.contains(&key) {
                continue;
            }
            keys.push(key);
            let found = self.path(path, &StackPosition::top(Role::Data));
            match &found {
                Some(m) if is_memory(&m.kind) => in_memory.push(m.mount_point.clone()),
                _ => elsewhere = true,
            }
            mount = mount.or(found);
        }
        // Stable sort: the file system's own devices first, its data before its log, otherwise in the order of discovery.
        self.devices.sort_by_key(|d| (d.level, d.role == Role::Log));
        let memory = !in_memory.is_empty() && !elsewhere;
        let served = |m: &Mount| {
            let mount_stats = self.files.read(Path::new("/proc/self/mountstats")).ok();
            mount_stats.and_then(|t| server::served(&t, &m.escaped_mount_point())).is_some()
        };
        let fuse = mount.as_ref().filter(|m| self.devices.is_empty() && is_fuse(&m.kind) && keys.len() == 1);
        // What comes from elsewhere than a directory on a device of this machine need not be read by the program itself.
        let local = |m: &&Mount| {
            // Only its devices: the source may be hidden below the mount itself.
            let mut walk = Walk::new(self.files);
            let source = Path::new(&m.source);
            source.is_absolute() && {
                walk.path(source, &StackPosition::top(Role::Data));
                !walk.devices.is_empty()
            }
        };
        let fuse_server = fuse.filter(local).and_then(|m| fuse_server::find(self.files, m.device.1));
        let method = match (self.devices.is_empty(), memory) {
            (false, _) => "diskstats",
            (true, true) => "memory",
            (true, false) if mount.as_ref().is_some_and(served) => "mountstats",
            (true, false) if fuse_server.is_some() => "fuse-server",
            (true, false) => "none",
        };
        let note = (!self.notes.is_empty()).then(|| self.notes.join("; "));
        DeviceStack { mount, devices: self.devices, method: method.into(), fuse_server, note }
    }

    /// Adds the devices below a path and returns its mount.
    fn path(&mut self, path: &Path, place: &StackPosition) -> Option<Mount> {
        let key = match self.files.mount_of(path) {
            Ok(key) => key,
            Err(e) => {
                self.notes.push(format!("{} could not be examined: {e}", path.display()));
                return None;
            }
        };
        let mount = mount::find(&self.mounts, &key, path).cloned();
        match &mount {
            Some(mount) => self.mount(mount, place),
            None if key.device.0 > 0 => self.number(key.device, place),
            None => self.notes.push(format!("no mount of {} is visible from here", path.display())),
        }
        mount
    }

    fn mount(&mut self, mount: &Mount, place: &StackPosition) {
        match mount.kind.as_str() {
            "btrfs" => self.btrfs(mount, place),
            "overlay" => self.overlay(mount, place),
            _ if mount.device.0 > 0 => {
                self.number(mount.device, place);
                self.further_devices(mount, place);
            }
            "bcachefs" => self.sources(mount, place),
            _ => self.notes.push(why_no_device(mount)),
        }
    }

    /// xfs may keep its log and file data on other devices than the mounted one, ext4 its journal.
    fn further_devices(&mut self, mount: &Mount, place: &StackPosition) {
        if matches!(mount.kind.as_str(), "ext3" | "ext4")
            && let Some(name) = self.journal_device(mount.device)
        {
            // With data=journal all data is written there first, and is durable there.
            let role = if mount.option("data") == Some("journal") { place.role } else { Role::Log };
            self.name(&name, &StackPosition { role, ..place.clone() });
        }
        for (option, role) in [("rtdev", place.role), ("logdev", Role::Log)] {
            if let Some(source) = mount.option(option) {
                self.source(source, &StackPosition { role, ..place.clone() });
            }
        }
    }

    /// The separate journal device of an ext4, if it has one. No mount option names it, but the journal thread's name does: "jbd2/sdb"
    /// for a device, "jbd2/sda1-8" for a file (inode 8) of the file system itself.
    fn journal_device(&self, (major, minor): (u32, u32)) -> Option<String> {
        let sys = self.files.canonical(&PathBuf::from(format!("/sys/dev/block/{major}:{minor}"))).ok()?;
        let own = format!("{}-", sys.file_name()?.to_string_lossy());
        let task = self
            .files
            .trimmed(&Path::new("/sys/fs/ext4").join(own.trim_end_matches('-')).join("journal_task"))?;
        let thread: u64 = task.parse().ok()?;
        let name = self.files.trimmed(Path::new(&format!("/proc/{thread}/comm")))?;
        let name = name.strip_prefix("jbd2/")?;
        // Kernels before 5.17 truncate thread names.
        if name.starts_with(&own) || own.starts_with(name) {
            return None;
        }
        let named = |n: &String| *n == name || (name.len() == CUT_SHORT && n.starts_with(name));
        let mut journals = self.files.list(Path::new("/proc/fs/jbd2")).unwrap_or_default();
        journals.retain(named);
        match journals.as_slice() {
            [one] => Some(one.clone()),
            _ => Some(name.to_string()),
        }
    }

    /// A btrfs lists all its devices in sysfs; the mount names one of them.
    fn btrfs(&mut self, mount: &Mount, place: &StackPosition) {
        let named = self.device_name(&mount.source);
        let root = Path::new("/sys/fs/btrfs");
        for uuid in self.files.list(root).unwrap_or_default() {
            let members = self.files.list(&root.join(&uuid).join("devices")).unwrap_or_default();
            if members.contains(&named) {
                for member in members {
                    self.name(&member, place);
                }
                return;
            }
        }
        self.source(&mount.source, place);
        self.notes.push(format!(
            "the other devices of the btrfs on {}, if there are any, could not be found",
            mount.source
        ));
    }

    /// An overlay writes to its upper directory and reads from all of its layers.
    fn overlay(&mut self, mount: &Mount, place: &StackPosition) {
        if self.overlays.contains(&mount.id) {
            let place = &mount.mount_point;
            self.notes.push(format!(
                "a layer of the overlay at {place} has a name that leads back into it from here (container?)"
            ));
            return;
        }
        self.overlays.push(mount.id);
        let before = self.devices.len();
        let upper = mount.option("upperdir");
        // The kernel shows names as given to mount: relative ones start at an unknown directory.
        let (relative, absolute): (Vec<_>, Vec<_>) =
            mount::layers(mount).into_iter().partition(|layer| Path::new(layer.as_str()).is_relative());
        if let Some(first) = relative.first() {
            self.notes.push(format!(
                "layers of the overlay have relative names, such as {first:?}; mount it with absolute ones"
            ));
        }
        for layer in absolute {
            let which = if Some(layer.as_str()) == upper { "upper" } else { "lower" };
            self.layer(which, &layer, place);
        }
        if self.devices.len() == before && self.notes.is_empty() {
            self.notes.push("the layers of the overlay are not known".into());
        }
        self.overlays.pop();
    }

    fn layer(&mut self, which: &str, directory: &str, place: &StackPosition) {
        let path = Path::new(directory);
        if place.level >= DEEPEST {
            self.notes.push("the stack of devices is deeper than is followed".into());
        } else if self.files.mount_of(path).is_err() {
            self.notes.push(format!(
                "the {which} layer {directory} of the overlay is not visible from here (container?)"
            ));
        } else {
            self.path(path, place);
        }
    }

    /// A source that lists several devices: "/dev/sda:/dev/sdb".
    fn sources(&mut self, mount: &Mount, place: &StackPosition) {
        for source in mount.source.split(':') {
            self.source(source, place);
        }
    }

    fn source(&mut self, source: &str, place: &StackPosition) {
        let name = self.device_name(source);
        self.name(&name, place);
    }

    /// Kernel name of a device node: "/dev/mapper/home" is a link to "../dm-3".
    fn device_name(&self, source: &str) -> String {
        let path = Path::new(source);
        let target = self.files.read_link(path).unwrap_or_else(|_| path.to_path_buf());
        target.file_name().map_or_else(|| source.to_string(), |n| n.to_string_lossy().into_owned())
    }

    fn name(&mut self, name: &str, place: &StackPosition) {
        // Where the name in /dev has a '/', the name in sysfs has a '!': "cciss!c0d0".
        let link = Path::new("/sys/class/block").join(name.replace('/', "!"));
        match self.files.canonical(&link) {
            Ok(sys) => self.device(&sys, place),
            Err(_) => self.notes.push(format!("the block device {name} is not in /sys")),
        }
    }

    fn number(&mut self, (major, minor): (u32, u32), place: &StackPosition) {
        let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        match self.files.canonical(&link) {
            Ok(sys) => self.device(&sys, place),
            Err(_) => self.notes.push(format!("the block device {major}:{minor} is not in /sys")),
        }
    }

    /// Adds a device and everything below it, each once.
    fn device(&mut self, sys: &Path, place: &StackPosition) {
        let Some(name) = sys.file_name().map(|n| n.to_string_lossy().into_owned()) else { return };
        if self.devices.iter().any(|d| d.name == name) {
            return;
        }
        if place.level > DEEPEST {
            self.notes.push("the stack of devices is deeper than is followed".into());
            return;
        }
        let kind = self.kind(sys, &name);
        self.devices.push(Device {
            number: self.number_of(sys),
            kind,
            role: place.role,
            level: place.level,
            above: place.above.clone(),
            image_on: None,
            in_memory: kind == DeviceKind::Ram,
            sys: sys.to_path_buf(),
            name: name.clone(),
        });
        let in_memory = self.below(sys, &name, kind, &place.below(&name));
        if let Some(device) = self.devices.iter_mut().find(|d| in_memory && d.name == name) {
            device.in_memory = true;
        }
    }

    /// Adds what a device stands on. Whether that is main memory alone.
    fn below(&mut self, sys: &Path, name: &str, kind: DeviceKind, place: &StackPosition) -> bool {
        if kind == DeviceKind::Partition {
            let Some(disk) = sys.parent() else { return false };
            self.device(disk, place);
            return disk.file_name().is_some_and(|disk| self.is_in_memory(&disk.to_string_lossy()));
        }
        let mut slaves = self.files.list(&sys.join("slaves")).unwrap_or_default();
        slaves.extend(nvme::paths(self.files, name));
        for slave in &slaves {
            self.name(slave, place);
        }
        if let Some(backing) = self.files.trimmed(&sys.join("loop/backing_file")) {
            self.backing_file(name, &backing, place);
            let own = |d: &&Device| d.above.as_deref() == Some(name);
            return self.devices.iter().any(|d| d.name == name && d.kind == DeviceKind::Ram)
                || self.devices.iter().any(|d| own(&d))
                    && self.devices.iter().filter(own).all(|d| d.in_memory);
        }
        !slaves.is_empty() && slaves.iter().all(|slave| self.is_in_memory(slave))
    }

    fn is_in_memory(&self, name: &str) -> bool {
        self.devices.iter().any(|d| d.name == name && d.in_memory)
    }

    fn backing_file(&mut self, name: &str, backing: &str, place: &StackPosition) {
        if let Some(gone) = backing.strip_suffix(" (deleted)") {
            self.notes
                .push(format!("the file {gone} behind {name} is deleted; what it lies on is not known"));
            return;
        }
        let before = self.devices.len();
        let mount = self.path(Path::new(backing), place);
        if let Some(device) = self.devices.iter_mut().find(|d| d.name == name) {
            device.image_on = mount.as_ref().map(|mount| mount.kind.clone());
        }
        if let Some(mount) = mount.filter(|_| self.devices.len() == before) {
            if is_memory(&mount.kind)
                && let Some(device) = self.devices.iter_mut().find(|d| d.name == name)
            {
                // A disk backed by a file in memory is a disk in memory.
                device.kind = DeviceKind::Ram;
            }
            self.notes.push(format!("{name} is the file {backing} on {}", mount.kind));
        }
    }

    fn kind(&self, sys: &Path, name: &str) -> DeviceKind {
        let has = |entry: &str| self.files.read(&sys.join(entry)).is_ok();
        let has_dir = |entry: &str| self.files.list(&sys.join(entry)).is_ok();
        if has("partition") {
            DeviceKind::Partition
        } else if has_dir("dm") {
            DeviceKind::DeviceMapper
        } else if has_dir("md") {
            DeviceKind::Md
        } else if has("loop/backing_file") {
            DeviceKind::Loop
        } else if !nvme::paths(self.files, name).is_empty() {
            DeviceKind::Multipath
        } else if name.starts_with("zram") || name.starts_with("ram") {
            DeviceKind::Ram
        } else {
            DeviceKind::Disk
        }
    }

    fn number_of(&self, sys: &Path) -> (u32, u32) {
        let text = self.files.trimmed(&sys.join("dev")).unwrap_or_default();
        text.split_once(':')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
            .or_else(|| nvme::hidden_number(self.files, &sys.file_name()?.to_string_lossy()))
            .unwrap_or((0, 0))
    }
}

/// File systems that live in main memory.
fn is_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs")
}

/// File systems that a program serves, and that are on no block device.
fn is_fuse(kind: &str) -> bool {
    kind == "fuse" || kind.starts_with("fuse.")
}

/// The sentence for a file system without a block device.
fn why_no_device(mount: &Mount) -> String {
    let Mount { kind, source, mount_point, .. } = mount;
    match kind.as_str() {
        k if is_memory(k) => {
            format!("{mount_point} is a {kind}: its files are in memory, so there is no device below")
        }
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "afs" | "beegfs" | "gpfs" => {
            format!("{mount_point} is a {kind} from {source}: its device is on another machine")
        }
        "9p" | "virtiofs" => {
            format!("{mount_point} is a {kind} share: its device belongs to the host of this virtual machine")
        }
        k if is_fuse(k) => {
            format!(
                "{mount_point} is a {kind} ({source}): a program serves its files, so the device is not visible"
            )
        }
        "zfs" => {
            format!("{mount_point} is the ZFS data set {source}: /sys does not list the devices of its pool")
        }
        _ => format!("{mount_point} is a {kind} ({source}) without a block device"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::stack_with;
    use super::*;
    use crate::fake::Fake;

    fn mounts(lines: &[&str]) -> String {
        lines.join("\n") + "\n"
    }

    fn names(stack: &DeviceStack) -> Vec<(&str, u32)> {
        stack.devices.iter().map(|d| (d.name.as_str(), d.level)).collect()
    }

    const PCI: &str = "pci0000:00/nvme/nvme0";

    fn with_nvme() -> Fake {
        Fake::new().disk(PCI, "nvme0n1", (259, 0)).partition(PCI, "nvme0n1", "nvme0n1p2", (259, 2))
    }

    #[test]
    fn a_partition_stands_on_its_disk() {
        let m = mounts(&["27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw"]);
        let fake = with_nvme().file("/proc/self/mountinfo", &m).on_mount("/", 27, (259, 2));
        let stack = stack_with(&fake, Path::new("/home/u"));
        assert_eq!(names(&stack), [("nvme0n1p2", 0), ("nvme0n1", 1)]);
        assert_eq!(stack.devices[0].kind, DeviceKind::Partition);
        assert_eq!(stack.devices[1].number, (259, 0));
        assert_eq!(stack.devices[1].above.as_deref(), Some("nvme0n1p2"));
        assert_eq!((stack.method.as_str(), stack.note), ("diskstats", None));
    }

    #[test]
    fn a_crypt_stands_on_a_partition() {
        let m = mounts(&["27 1 253:0 / /my\\040home rw - ext4 /dev/mapper/home rw"]);
        let fake = with_nvme()
            .disk("virtual", "dm-0", (253, 0))
            .file("/sys/devices/virtual/block/dm-0/dm/name", "home\n")
            .file("/sys/devices/virtual/block/dm-0/slaves/nvme0n1p2", "")
            .file("/proc/self/mountinfo", &m)
            .on_mount("/my home", 27, (253, 0));
        let stack = stack_with(&fake, Path::new("/my home/x"));
        assert_eq!(names(&stack), [("dm-0", 0), ("nvme0n1p2", 1), ("nvme0n1", 2)]);
        assert_eq!(stack.devices[0].kind, DeviceKind::DeviceMapper);
        assert_eq!(stack.mount.expect("a mount").mount_point, "/my home");
    }

    #[test]
    fn a_raid_stands_on_each_disk_once() {
        let m = mounts(&["27 1 9:0 / / rw - xfs /dev/md0 rw,logdev=/dev/sdc"]);
        let fake = Fake::new()
            .disk("virtual", "md0", (9, 0))
            .disk("ata1", "sda", (8, 0))
            .disk("ata2", "sdb", (8, 16))
            .disk("ata3", "sdc", (8, 32))
            .file("/sys/devices/virtual/block/md0/md/level", "raid1\n")
            .file("/sys/devices/virtual/block/md0/slaves/sda", "")
            .file("/sys/devices/virtual/block/md0/slaves/sdb", "")
            .file("/proc/self/mountinfo", &m)
            .on_mount("/", 27, (9, 0));
        let stack = stack_with(&fake, Path::new("/"));
        assert_eq!(names(&stack), [("md0", 0), ("sdc", 0), ("sda", 1), ("sdb", 1)]);
        assert_eq!(stack.devices[1].role, Role::Log);
        assert_eq!(stack.tops().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["md0"]);
    }

    #[test]
    fn an_nvme_multipath_device_leads_to_its_paths() {
        let m = mounts(&["27 1 259:2 / / rw - ext4 /dev/nvme1n1p1 rw"]);
        let mut fake = Fake::new()
            .disk("subsys1", "nvme1n1", (259, 1))
            .partition("subsys1", "nvme1n1", "nvme1n1p1", (259, 2))
            .disk("pci1", "nvme0n1", (259, 0))
            .disk("ctl1", "nvme1c1n1", (0, 1))
            .disk("ctl2", "nvme1c12n1", (0, 2))
            .disk("ctl3", "nvme2c1n1", (0, 3))
            .disk("ctl4", "nvme1c1n2", (0, 4))
            .file("/proc/diskstats", " 259 7 nvme1c1n1 0\n 259 8 nvme1c12n1 0\n")
            .file("/proc/self/mountinfo", &m)
            .on_mount("/", 27, (259, 2));
        // A path has no node.
        fake.remove("/sys/devices/ctl1/block/nvme1c1n1/dev");
        let stack = stack_with(&fake, Path::new("/x"));
        assert_eq!(names(&stack), [("nvme1n1p1", 0), ("nvme1n1", 1), ("nvme1c12n1", 2), ("nvme1c1n1", 2)]);
        assert_eq!((stack.devices[1].kind, stack.devices[2].kind), (DeviceKind::Multipath, DeviceKind::Disk));
        assert_eq!(stack.devices[3].number, (259, 7));
    }

    #[test]
    fn what_stands_on_memory_alone_is_memory() {
        let on = |slaves: [&str; 2]| {
            let m = mounts(&["27 1 9:0 / / rw - ext4 /dev/md0 rw"]);
            let mut fake = Fake::new()
                .disk("virtual", "md0", (9, 0))
                .disk("virtual", "dm-0", (253, 0))
                .disk("virtual", "zram0", (252, 0))
                .disk("virtual", "ram1", (1, 1))
                .disk("ata1", "sda", (8, 0))
                .file("/sys/devices/virtual/block/dm-0/dm/name", "crypt\n")
                .file("/sys/devices/virtual/block/dm-0/slaves/zram0", "")
                .file("/sys/devices/virtual/block/md0/md/level", "raid0\n")
                .file("/proc/self/mountinfo", &m)
                .on_mount("/", 27, (9, 0));
            for slave in slaves {
                fake.put(&format!("/sys/devices/virtual/block/md0/slaves/{slave}"), "");
            }
            let stack = stack_with(&fake, Path::new("/"));
            let memory = stack.devices.iter().filter(|d| d.in_memory).map(|d| d.name.clone());
            memory.collect::<Vec<_>>()
        };
        assert_eq!(on(["dm-0", "ram1"]), ["md0", "dm-0", "ram1", "zram0"]);
        assert_eq!(on(["dm-0", "sda"]), ["dm-0", "zram0"]);
    }

    #[test]
    fn an_ext4_has_its_journal_on_the_device_that_the_thread_is_named_after() {
        let journal = |thread: &str| {
            let m = mounts(&["27 1 8:0 / / rw - ext4 /dev/sda rw"]);
            let fake = Fake::new()
                .disk("ata1", "sda", (8, 0))
                .disk("virtual", "dm-3", (253, 3))
                .disk("nvme10", "nvme10n1p12", (259, 12))
                .file("/sys/fs/ext4/sda/journal_task", "432\n")
                .file("/proc/432/comm", thread)
                .file("/proc/fs/jbd2/sda-8/info", "")
                .file("/proc/fs/jbd2/dm-3/info", "")
                .file("/proc/fs/jbd2/nvme10n1p12/info", "")
                .file("/proc/self/mountinfo", &m)
                .on_mount("/", 27, (8, 0));
            let stack = stack_with(&fake, Path::new("/x"));
            assert_eq!(stack.tops().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["sda"]);
            assert_eq!(stack.note, None);
            let log = stack.devices.iter().find(|d| d.role == Role::Log);
            log.map(|d| (d.name.clone(), d.level))
        };
        assert_eq!(journal("jbd2/sda-8\n"), None);
        assert_eq!(journal("jbd2/dm-3\n"), Some(("dm-3".into(), 0)));
        assert_eq!(journal("jbd2/nvme10n1p12\n"), Some(("nvme10n1p12".into(), 0)));
        assert_eq!(journal("jbd2/nvme10n1p1\n"), Some(("nvme10n1p12".into(), 0)), "cut short");
        assert_eq!(journal("<none>\n"), None);
    }

    #[test]
    fn an_overlay_that_leads_back_into_itself_ends() {
        let m = mounts(&["27 1 0:50 / / rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u"]);
        let fake = Fake::new().file("/proc/self/mountinfo", &m).on_mount("/", 27, (0, 50));
        let stack = stack_with(&fake, Path::new("/home"));
        assert_eq!(stack.devices, []);
        assert!(stack.note.expect("a note").contains("leads back into it"));
    }

    fn with_loop(backing: &str) -> Fake {
        let m = mounts(&[
            "27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw",
            "40 27 7:3 / /mnt rw - ext4 /dev/loop3 rw",
            "41 27 0:44 / /dev/shm rw - tmpfs tmpfs rw",
        ]);
        with_nvme()
            .disk("virtual", "loop3", (7, 3))
            .file("/sys/devices/virtual/block/loop3/loop/backing_file", backing)
            .file("/proc/self/mountinfo", &m)
            .on_mount("/", 27, (259, 2))
            .on_mount("/mnt", 40, (7, 3))
            .on_mount("/dev/shm", 41, (0, 44))
    }

    #[test]
    fn a_loop_stands_on_the_devices_of_its_file() {
        let stack = stack_with(&with_loop("/var/disk image\n"), Path::new("/mnt/x"));
        assert_eq!(names(&stack), [("loop3", 0), ("nvme0n1p2", 1), ("nvme0n1", 2)]);
        assert_eq!(stack.devices[0].kind, DeviceKind::Loop);
    }

    #[test]
    fn a_loop_in_memory_or_on_a_deleted_file_says_so() {
        let stack = stack_with(&with_loop("/dev/shm/image\n"), Path::new("/mnt/x"));
        assert_eq!(names(&stack), [("loop3", 0)]);
        assert_eq!(stack.method, "diskstats");
        assert_eq!(stack.devices[0].kind, DeviceKind::Ram);
        assert!(stack.note.expect("a note").contains("in memory"));
        let stack = stack_with(&with_loop("/var/image (deleted)\n"), Path::new("/mnt/x"));
        assert!(stack.note.expect("a note").contains("/var/image behind loop3 is deleted"));
    }

    #[test]
    fn a_loop_on_itself_ends() {
        let stack = stack_with(&with_loop("/mnt/image\n"), Path::new("/mnt/x"));
        assert_eq!(names(&stack), [("loop3", 0)]);
    }

    fn two_disks() -> Fake {
        Fake::new().disk("ata1", "sda", (8, 0)).disk("ata2", "sdb", (8, 16))
    }

    #[test]
    fn a_btrfs_has_all_its_devices() {
        let m =
            mounts(&["50 1 0:33 /@home /home rw - btrfs /dev/mapper/pool rw,compress=zstd:3,subvol=/@home"]);
        let fake = two_disks()
            .link("/dev/mapper/pool", "../sda")
            .file("/sys/fs/btrfs/features/x", "")
            .file("/sys/fs/btrfs/1f-2e/devices/sda", "")
            .file("/sys/fs/btrfs/1f-2e/devices/sdb", "")
            .file("/proc/self/mountinfo", &m)
            .on_mount("/home", 50, (0, 99));
        let stack = stack_with(&fake, Path::new("/home/u"));
        assert_eq!(names(&stack), [("sda", 0), ("sdb", 0)]);
        assert_eq!(stack.tops().count(), 2);
        assert_eq!(stack.note, None);
    }

    #[test]
    fn a_btrfs_that_is_not_told_in_sys_has_the_device_it_was_mounted_from() {
        let m = mounts(&["50 1 0:33 / /home rw - btrfs /dev/sdb rw"]);
        let fake = two_disks().file("/proc/self/mountinfo", &m).on_mount("/home", 50, (0, 33));
        let stack = stack_with(&fake, Path::new("/home/u"));
        assert_eq!(names(&stack), [("sdb", 0)]);
        assert!(stack.note.expect("a note").contains("other devices"));
    }

    #[test]
    fn an_overlay_stands_on_its_layers() {
        let m = mounts(&[
            "27 1 8:0 / / rw - ext4 /dev/sda rw",
            "28 27 8:16 / /images rw - ext4 /dev/sdb rw",
            "60 27 0:60 / /merged rw - overlay overlay rw,lowerdir=low:/images/a\\134:b,upperdir=/up,workdir=/work",
        ]);
        let fake = two_disks()
            .file("/proc/self/mountinfo", &m)
            .on_mount("/merged", 60, (0, 60))
            .on_mount("/images/a:b", 28, (8, 16))
            .on_mount("/up", 27, (8, 0));
        let stack = stack_with(&fake, Path::new("/merged/f"));
        assert_eq!(names(&stack), [("sda", 0), ("sdb", 0)]);
        let note = stack.note.expect("a note");
        assert!(note.contains("\"low\"") && note.contains("relative"), "{note}");
    }

    #[test]
    fn an_overlay_of_a_container_whose_layers_are_elsewhere_says_so() {
        let m = mounts(&["60 1 0:60 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/var/lib/docker/x"]);
        let fake = Fake::new().file("/proc/self/mountinfo", &m).on_mount("/home", 60, (0, 60));
        let stack = stack_with(&fake, Path::new("/home"));
        assert_eq!((names(&stack).len(), stack.method.as_str()), (0, "none"));
        assert!(stack.note.expect("a note").contains("container"));
    }

    #[test]
    fn file_systems_without_a_device_say_why() {
        for (line, method, word) in [
            ("9 1 0:9 / /t rw - tmpfs tmpfs rw,size=4k", "memory", "in memory"),
            ("9 1 0:9 / /t rw - nfs4 srv:/e rw", "none", "another machine"),
            ("9 1 0:9 / /t rw - fuse.sshfs u@h: rw", "none", "a program serves"),
            ("9 1 0:9 / /t rw - virtiofs share rw", "none", "host"),
            ("9 1 0:9 / /t rw - zfs tank/home rw", "none", "tank/home"),
            ("9 1 0:9 / /t rw - proc proc rw", "none", "without a block device"),
        ] {
            let fake = Fake::new().file("/proc/self/mountinfo", &mounts(&[line])).on_mount("/t", 9, (0, 9));
            let stack = stack_with(&fake, Path::new("/t/x"));
            let note = stack.note.expect("a note");
            assert_eq!((stack.method.as_str(), stack.devices.len()), (method, 0), "{line}");
            assert!(note.contains(word), "{note}");
        }
    }

    #[test]
    fn a_fuse_mount_over_its_own_source_ends() {
        let m = mounts(&["9 1 0:40 / /srv rw - fuse /srv rw"]);
        let fake = Fake::new().file("/proc/self/mountinfo", &m).on_mount("/srv", 9, (0, 40));
        let stack = stack_with(&fake, Path::new("/srv/file"));
        assert_eq!((stack.method.as_str(), stack.devices.len()), ("none", 0));
    }

    #[test]
    fn the_local_server_of_a_fuse_mount_is_found() {
        let mounts =
            mounts(&["9 1 0:40 / /t rw - fuse /srv/data rw", "10 1 8:0 / /srv rw - ext4 /dev/sda rw"]);
        let fake = Fake::new()
            .file("/proc/self/mountinfo", &mounts)
            .on_mount("/t", 9, (0, 40))
            .disk("pci0", "sda", (8, 0))
            .on_mount("/srv/data", 10, (8, 0))
            .file("/proc/30/comm", "bindfs\n")
            .link("/proc/30/fd/4", "/dev/fuse")
            .file("/proc/30/fdinfo/4", "fuse_connection:\t40\n");
        let stack = stack_with(&fake, Path::new("/t/x"));
        assert_eq!((stack.method.as_str(), stack.devices.len()), ("fuse-server", 0));
        assert_eq!(stack.fuse_server.as_ref().map(|s| (s.process, s.name.as_str())), Some((30, "bindfs")));
        let stack = stack.for_writes();
        assert_eq!((stack.method.as_str(), stack.fuse_server), ("none", None));
    }

    #[test]
    fn without_mount_ids_and_without_sys_something_sensible_is_said() {
        let m = mounts(&["27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw"]);
        let old = with_nvme().file("/proc/self/mountinfo", &m).on_device("/", (259, 2));
        assert_eq!(names(&stack_with(&old, Path::new("/x"))), [("nvme0n1p2", 0), ("nvme0n1", 1)]);
        let bare = Fake::new().file("/proc/self/mountinfo", &m).on_mount("/", 27, (259, 2));
        let stack = stack_with(&bare, Path::new("/x"));
        assert_eq!(stack.method, "none");
        assert!(stack.note.expect("a note").contains("259:2"));
        let empty = stack_with(&Fake::new(), Path::new("/x"));
        assert!(empty.note.expect("a note").contains("could not be examined"));
    }

    #[test]
    fn this_machine_answers_consistently() {
        let dir = tempfile::tempdir().expect("a directory");
        let stack = super::super::stack_of(dir.path());
        match stack.method.as_str() {
            "diskstats" => assert!(stack.tops().count() > 0 && !stack.devices[0].name.is_empty()),
            _ => assert!(stack.devices.is_empty() && stack.note.is_some(), "{stack:?}"),
        }
    }
}
