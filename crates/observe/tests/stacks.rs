//! Maps paths to devices on real stacks: a partition of a loop device, overlay, btrfs on two devices, zram, bind mounts, FUSE. Each test
//! creates and removes its stack; what this machine cannot create is skipped by name.
//!
//! Device mapper and md need drivers that not every kernel has; they are tested on recorded trees (`device::walk`).

use fathom_observe::cache;
use fathom_observe::cache::bypass_check::CacheBypassCheck;
use fathom_observe::device::{DeviceKind, DeviceStack, stack_of, stack_of_all};
use fathom_observe::residency;
use fathom_record::{Histogram, OpKind, OpStat, Repetition, Worker};
use fathom_testkit::{Kind, LoopFs, TestDir, TmpFs, need_root, need_tool, skip};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn command(words: &[&str]) -> Result<String, String> {
    let output =
        Command::new(words[0]).args(&words[1..]).output().map_err(|e| format!("{}: {e}", words[0]))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    } else {
        Err(format!("{}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Cleanup commands of a test, run in reverse order, also on panic.
#[derive(Default)]
struct Undo(Vec<Vec<String>>);

impl Undo {
    fn add(&mut self, words: &[&str]) {
        self.0.push(words.iter().map(ToString::to_string).collect());
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        for words in self.0.iter().rev() {
            let _ = command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn sparse(path: &Path, bytes: u64) -> std::fs::File {
    let file = std::fs::File::create(path).expect("an image");
    file.set_len(bytes).expect("a size");
    file
}

/// Attaches an image to a loop device until the test ends; `None` with the skip recorded.
fn attach(test: &str, image: &Path, more: &[&str], undo: &mut Undo) -> Option<String> {
    let mut words = vec!["losetup", "--find", "--show"];
    words.extend(more);
    let image = text(image);
    words.push(&image);
    match command(&words) {
        Ok(device) => {
            undo.add(&["losetup", "--detach", &device]);
            Some(device)
        }
        Err(why) => {
            skip(test, &format!("no loop device could be had: {why}"));
            None
        }
    }
}

fn mount(test: &str, words: &[&str], at: &Path, undo: &mut Undo) -> Option<()> {
    let at = text(at);
    let mut all = vec!["mount"];
    all.extend(words);
    all.push(&at);
    match command(&all) {
        Ok(_) => {
            undo.add(&["umount", &at]);
            Some(())
        }
        Err(why) => {
            skip(test, &why);
            None
        }
    }
}

fn levels(stack: &DeviceStack) -> Vec<(&str, u32)> {
    stack.devices.iter().map(|d| (d.name.as_str(), d.level)).collect()
}

fn name_of(device: &str) -> &str {
    device.rsplit('/').next().unwrap_or(device)
}

#[test]
fn a_partition_of_a_loop_device() {
    let test = "a_partition_of_a_loop_device";
    if !need_root(test) || !need_tool(test, "losetup") || !need_tool(test, "mkfs.ext4") {
        return;
    }
    let dir = TestDir::new();
    let mut undo = Undo::default();
    let image = dir.path().join("image");
    let file = sparse(&image, 40 << 20);
    // A DOS partition table with one Linux partition from sector 2048 on.
    let (first, sectors) = (2048u32, 32u32 << 11);
    let mut entry = [0u8; 16];
    entry[4] = 0x83;
    entry[8..12].copy_from_slice(&first.to_le_bytes());
    entry[12..].copy_from_slice(&sectors.to_le_bytes());
    file.write_all_at(&entry, 446).expect("writes");
    file.write_all_at(&[0x55, 0xaa], 510).expect("writes");
    let Some(device) = attach(test, &image, &["--partscan"], &mut undo) else { return };
    let partition = format!("{device}p1");
    if !Path::new(&partition).exists() {
        return skip(test, "the kernel made no device for the partition");
    }
    command(&["mkfs.ext4", "-q", &partition]).expect("a file system");
    let at = dir.subdir("mnt");
    if mount(test, &[&partition], &at, &mut undo).is_none() {
        return;
    }
    let stack = stack_of(&at.join("file"));
    assert_eq!(levels(&stack)[..2], [(name_of(&partition), 0), (name_of(&device), 1)]);
    assert_eq!(stack.devices[0].kind, DeviceKind::Partition);
    assert_eq!(stack.devices[1].kind, DeviceKind::Loop);
    let below = stack_of(dir.path());
    assert_eq!(stack.devices[2..].len(), below.devices.len(), "and what the image lies on: {stack:?}");
}

#[test]
fn an_overlay_stands_on_the_devices_of_its_layers_and_shows_their_pages() {
    let test = "an_overlay_stands_on_the_devices_of_its_layers_and_shows_their_pages";
    let Some(upper) = LoopFs::ext4(test).mebibytes(32).mount() else { return };
    let Some(lower) = LoopFs::ext4(test).mebibytes(32).mount() else { return };
    let dir = TestDir::new();
    let mut undo = Undo::default();
    let [up, work, low] = [upper.path().join("up"), upper.path().join("work"), lower.path().join("low")];
    for d in [&up, &work, &low] {
        std::fs::create_dir(d).expect("a directory");
    }
    std::fs::write(low.join("below"), vec![7; 1 << 20]).expect("writes");
    let at = dir.subdir("merged");
    let options = format!("lowerdir={},upperdir={},workdir={}", text(&low), text(&up), text(&work));
    if mount(test, &["-t", "overlay", "-o", &options, "overlay"], &at, &mut undo).is_none() {
        return;
    }
    let stack = stack_of(&at);
    let tops: Vec<&str> = stack.tops().map(|d| d.name.as_str()).collect();
    let wanted = [upper.device(), lower.device()].map(|d| name_of(d.to_str().expect("UTF-8")));
    assert_eq!(tops, wanted, "the upper layer's first");
    // A file that exists only in the lower layer, and a new one in the upper.
    let new = at.join("new");
    std::fs::write(&new, vec![7; 1 << 20]).expect("writes");
    for (path, dirty) in [(at.join("below"), false), (new.clone(), true)] {
        if dirty && !residency::tells_dirty(std::slice::from_ref(&path)) {
            println!("skipped the half of {test} that needs cachestat (Linux 6.5)");
            continue;
        }
        let found = residency::measure(std::slice::from_ref(&path)).expect("reported");
        assert_eq!(found.total_pages, 256, "{}", path.display());
        assert!(found.cached_pages > 200, "{found:?}");
    }
    let left = residency::evict(&new).expect("drops");
    assert_eq!((left.cached_pages, left.dirty_pages), (0, 0), "{left:?}");
    // Each file's data is on one layer; what may still be copied up needs both.
    let beneath = |path: &Path, writes| cache::beneath(&[path.to_path_buf()], writes);
    let below = at.join("below");
    assert_eq!(beneath(&below, false), Some(vec![low.join("below")]));
    assert_eq!(beneath(&below, true), Some(vec![at.clone()]));
    assert_eq!(beneath(&new, true), Some(vec![up.clone()]));
    assert_eq!(beneath(&at.join("later"), true), Some(vec![up.clone()]));
    assert_eq!(beneath(&up.join("new"), true), None, "on no overlay");
    let both = cache::beneath(&[below.clone(), up.join("new")], false);
    assert_eq!(both, Some(vec![low.join("below"), up.join("new")]));
    // Elsewhere only the first file of a directory is looked at; without an overlay among the directories none is.
    let more = [below.clone(), up.join("new"), up.join("more")];
    assert_eq!(cache::beneath(&more, false), both);
    assert_eq!(cache::beneath(&more[1..], false), None);
    std::fs::OpenOptions::new().write(true).open(&below).expect("copied up").sync_all().expect("syncs");
    assert_eq!(beneath(&below, false), Some(vec![up.clone()]), "its number is the lower file's");
}

#[test]
fn a_btrfs_on_two_devices_has_both() {
    let test = "a_btrfs_on_two_devices_has_both";
    if !need_root(test) || !need_tool(test, "losetup") || !need_tool(test, "mkfs.btrfs") {
        return;
    }
    let dir = TestDir::new();
    let mut undo = Undo::default();
    let mut devices = Vec::new();
    for name in ["a", "b"] {
        let image = dir.path().join(name);
        drop(sparse(&image, 160 << 20));
        let Some(device) = attach(test, &image, &[], &mut undo) else { return };
        devices.push(device);
    }
    if let Err(why) =
        command(&["mkfs.btrfs", "-q", "-f", "-d", "raid0", "-m", "raid1", &devices[0], &devices[1]])
    {
        return skip(test, &why);
    }
    let at = dir.subdir("mnt");
    if mount(test, &["-t", "btrfs", "-o", "compress=zstd:3", &devices[0]], &at, &mut undo).is_none() {
        return;
    }
    // A subvolume has its own device number.
    if need_tool(test, "btrfs") {
        command(&["btrfs", "subvolume", "create", &text(&at.join("sub"))]).expect("a subvolume");
    } else {
        std::fs::create_dir(at.join("sub")).expect("a directory");
    }
    for path in [at.clone(), at.join("sub")] {
        let stack = stack_of(&path);
        let mut tops: Vec<&str> = stack.tops().map(|d| d.name.as_str()).collect();
        tops.sort_unstable();
        let mut wanted: Vec<&str> = devices.iter().map(|d| name_of(d)).collect();
        wanted.sort_unstable();
        assert_eq!(tops, wanted, "{}", path.display());
        assert_eq!(stack.compression().as_deref(), Some("zstd:3"));
    }
}

#[test]
fn a_bind_mount_leads_to_the_device_of_what_is_bound() {
    let test = "a_bind_mount_leads_to_the_device_of_what_is_bound";
    let Some(fs) = LoopFs::ext4(test).mebibytes(16).mount() else { return };
    let dir = TestDir::new();
    let mut undo = Undo::default();
    let at = dir.subdir("bound");
    if mount(test, &["--bind", &text(fs.path())], &at, &mut undo).is_none() {
        return;
    }
    let wanted = name_of(fs.device().to_str().expect("UTF-8")).to_string();
    assert_eq!(stack_of(&at).devices[0].name, wanted);
}

#[test]
fn files_on_two_file_systems_have_the_devices_of_both() {
    let test = "files_on_two_file_systems_have_the_devices_of_both";
    let Some(one) = LoopFs::ext4(test).mebibytes(16).mount() else { return };
    let Some(other) = LoopFs::of(Kind::Ext4, test).mebibytes(16).mount() else { return };
    let stack = stack_of_all(&[one.path().join("x"), one.path().to_path_buf(), other.path().to_path_buf()]);
    let tops: Vec<&str> = stack.tops().map(|d| d.name.as_str()).collect();
    let name = |fs: &LoopFs| name_of(fs.device().to_str().expect("UTF-8")).to_string();
    assert!(tops.contains(&name(&one).as_str()) && tops.contains(&name(&other).as_str()), "{tops:?}");
    assert_eq!(tops.len(), 2);
    // A part in memory is reported; the devices of the rest are still counted.
    let Some(memory) = TmpFs::mount(test, 1 << 20) else { return };
    let mixed = stack_of_all(&[one.path().to_path_buf(), memory.path().to_path_buf()]);
    assert_eq!(mixed.method, "diskstats");
    assert!(mixed.note.as_deref().is_some_and(|n| n.contains("files are in memory")), "{:?}", mixed.note);
}

#[test]
fn compressed_memory_is_memory() {
    let test = "compressed_memory_is_memory";
    if !need_root(test) || !need_tool(test, "mkfs.ext4") {
        return;
    }
    let Ok(number) = std::fs::read_to_string("/sys/class/zram-control/hot_add") else {
        return skip(test, "this kernel has no zram");
    };
    let number = number.trim().to_string();
    let mut undo = Undo::default();
    undo.add(&["sh", "-c", &format!("echo {number} > /sys/class/zram-control/hot_remove")]);
    std::fs::write(format!("/sys/block/zram{number}/disksize"), "64M").expect("a size");
    let device = format!("/dev/zram{number}");
    command(&["mkfs.ext4", "-q", &device]).expect("a file system");
    let dir = TestDir::new();
    let at = dir.subdir("mnt");
    if mount(test, &[&device], &at, &mut undo).is_none() {
        return;
    }
    let stack = stack_of(&at);
    assert_eq!((stack.devices[0].kind, stack.devices.len()), (DeviceKind::Ram, 1), "{stack:?}");
}

#[test]
fn a_file_system_of_a_program_has_no_device_and_says_so() {
    let test = "a_file_system_of_a_program_has_no_device_and_says_so";
    if !need_tool(test, "fuseiso") || !need_tool(test, "genisoimage") || !need_tool(test, "fusermount") {
        return;
    }
    let dir = TestDir::new();
    let mut undo = Undo::default();
    let content = dir.subdir("content");
    std::fs::write(content.join("f"), vec![7; 1 << 20]).expect("writes");
    let (image, at) = (dir.path().join("x.iso"), dir.subdir("mnt"));
    command(&["genisoimage", "-quiet", "-o", &text(&image), &text(&content)]).expect("an image");
    if let Err(why) = command(&["fuseiso", &text(&image), &text(&at)]) {
        return skip(test, &why);
    }
    undo.add(&["fusermount", "-u", &text(&at)]);
    let stack = stack_of(&at.join("f"));
    // Since Linux 6.13 the kernel shows which process that is.
    let shown = stack.fuse_server.as_ref().map(|server| server.name.as_str());
    let method = if shown == Some("fuseiso") { "fuse-server" } else { "none" };
    assert_eq!((stack.devices.len(), stack.method.as_str()), (0, method));
    assert!(
        stack.note.as_deref().is_some_and(|n| n.contains("a program serves its files")),
        "{:?}",
        stack.note
    );
}

#[test]
fn what_waits_below_a_loop_device_is_told() {
    let test = "what_waits_below_a_loop_device_is_told";
    if TestDir::new().in_memory() {
        return skip(test, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::ext4(test).mebibytes(64).mount() else { return };
    let path = fs.path().join("file");
    let paths: Vec<PathBuf> = vec![path.clone()];
    if !residency::tells_dirty(&paths) {
        return skip(test, "needs cachestat (Linux 6.5)");
    }
    let stack = stack_of(fs.path());
    // Bypasses the page cache above and uses that of the image below. A concurrent sync(2) empties it, but not five times in a row.
    let most = (0..5).map(|_| {
        let copied = command(&[
            "dd",
            "if=/dev/zero",
            &format!("of={}", text(&path)),
            "bs=1M",
            "count=16",
            "oflag=direct",
        ]);
        copied.expect("dd writes");
        let now = residency::of(&paths);
        let waiting = cache::waiting(&paths, &stack, now, now, now, 0).expect("reported");
        assert_eq!(waiting.after_bytes, 0, "nothing waits above: {waiting:?}");
        waiting.below_bytes
    });
    let most = most.max().unwrap_or(0);
    assert!(most >= 8 << 20, "{most} bytes wait below");
}

/// The page cache use seen while dd writes 32 MiB with O_DIRECT.
fn seen_of_direct_writes(path: &Path) -> u64 {
    const BYTES: u64 = 32 << 20;
    let mut passing = CacheBypassCheck::of(&[path.to_path_buf()]);
    passing.start(residency::of(&[path.to_path_buf()]));
    let output = format!("of={}", text(path));
    let mut dd = Command::new("dd")
        .args(["if=/dev/zero", &output, "bs=64k", "count=512", "oflag=direct", "conv=notrunc", "status=none"])
        .spawn()
        .expect("dd starts");
    let status = loop {
        passing.look();
        if let Some(status) = dd.try_wait().expect("dd is waited for") {
            break status;
        }
    };
    assert!(status.success(), "dd writes");
    let stats = vec![OpStat { op: OpKind::Write, ops: 512, bytes: BYTES, latency: Histogram::default() }];
    let workers = vec![Worker { stats, ..Worker::default() }];
    passing.finish(&Repetition { workers, ..Repetition::default() })
}

#[test]
fn direct_writes_that_go_through_the_page_cache_are_seen() {
    let test = "direct_writes_that_go_through_the_page_cache_are_seen";
    let Some(ext4) = LoopFs::ext4(test).mount() else { return };
    let path = ext4.path().join("file");
    std::fs::write(&path, b"").expect("a file");
    if !residency::tells_dirty(std::slice::from_ref(&path)) {
        return skip(test, "needs cachestat (Linux 6.5)");
    }
    assert_eq!(seen_of_direct_writes(&path), 0, "ext4 writes past the page cache");
    let Some(btrfs) = LoopFs::of(Kind::Btrfs, test).mount() else { return };
    if command(&["chattr", "+C", &text(btrfs.path())]).is_err() {
        return skip(test, "needs chattr");
    }
    let path = btrfs.path().join("without checksums");
    std::fs::write(&path, b"").expect("a file");
    assert_eq!(seen_of_direct_writes(&path), 0, "btrfs writes past the page cache what has no checksums");
    command(&["chattr", "-C", &text(btrfs.path())]).expect("checksums");
    let path = btrfs.path().join("with checksums");
    std::fs::write(&path, b"").expect("a file");
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse::<u32>().unwrap_or(0));
    if (numbers.next(), numbers.next()) < (Some(6), Some(18)) {
        return skip(test, "btrfs of this kernel may write past the page cache what has checksums");
    }
    assert!(seen_of_direct_writes(&path) > 0, "btrfs writes through the page cache what has checksums");
}
