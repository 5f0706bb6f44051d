//! Devices that are made of others: images, RAID, encryption, snapshots.

use super::*;

#[test]
fn an_image_with_holes_is_a_cause_if_it_grows_meanwhile() {
    let mut world = World::new(OpKind::Write, 8000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let loop0 = fathom_record::DeviceDelta {
        name: "loop0".into(),
        kind: "loop".into(),
        write_bytes: 64 * MIB,
        busy_ms: 870,
        ..Default::default()
    };
    world.repetition.physical.devices = vec![loop0];
    world.repetition.physical.written_in_clock_bytes = Some(64 * MIB);
    let grown = |allocated_bytes| {
        Some(ImageGrowth {
            device: "loop0".into(),
            path: "/srv/image".into(),
            length_bytes: 256 * MIB,
            allocated_bytes,
        })
    };
    world.image_growth = grown(60 * MIB);
    assert_eq!(
        world.says("sparse-image").expect("reported"),
        "The file behind loop0, /srv/image, had holes: the file system below allocated 60 MiB for it while loop0 wrote 64 MiB and was busy for 87 % of the time."
    );
    let advice = |world: &World| {
        world.found().into_iter().find(|f| f.rule == "sparse-image").expect("reported").advice
    };
    assert!(advice(&world).starts_with("Fill the holes: `fallocate -l 268435456 /srv/image`. "));
    world.image_growth.as_mut().expect("it grew").path = "/srv/my image".into();
    assert!(advice(&world).starts_with("Fill the holes: `fallocate -l 268435456 '/srv/my image'`. "));
    world.repetition.physical.written_in_clock_bytes = Some(31 * MIB);
    assert_eq!(world.says("sparse-image"), None, "most was written after the clock had stopped");
    world.repetition.physical.written_in_clock_bytes = Some(64 * MIB);
    world.repetition.physical.devices[0].busy_ms = 490;
    assert_eq!(world.says("sparse-image"), None, "the workers did not wait for it");
    world.repetition.physical.devices[0].busy_ms = 870;
    world.image_growth = grown(31 * MIB);
    assert_eq!(world.says("sparse-image"), None, "most of it had its place");
    world.image_growth = None;
    assert_eq!(world.says("sparse-image"), None);
}

#[test]
fn an_image_that_is_copied_on_write_is_a_cause_if_more_is_written_below() {
    let mut world = World::new(OpKind::Write, 8192, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = serde_json::json!({ "devices": [
        { "name": "loop0", "above": null, "backing_file": "/srv/image", "backing_file_copied_on_write": true },
        { "name": "vda", "above": "loop0" },
    ]});
    let wrote = |name: &str, level, count| DeviceActivity {
        name: name.into(),
        level,
        busy_ns: 900_000_000,
        requests: vec![requests(RequestClass::Write, count, 4096)],
        ..DeviceActivity::default()
    };
    let devices = |world: &mut World, below| {
        let both = vec![wrote("loop0", 0, 8192), wrote("vda", 1, below)];
        world.repetition.block.as_mut().expect("made with one").devices = both;
    };
    devices(&mut world, 20_480);
    assert_eq!(
        world.says("copied-image").expect("reported"),
        "The file behind loop0, /srv/image, lies on btrfs, which writes each block to a new place and records where: while loop0 wrote 32 MiB, vda wrote 80 MiB (2.5 x)."
    );
    let theirs = Issuer { kind: IssuerKind::Other, write_bytes: 45 * MIB, ..Issuer::default() };
    world.repetition.block.as_mut().expect("made with one").devices[1].issuers = vec![theirs];
    assert_eq!(world.says("copied-image"), None, "another program wrote it");
    devices(&mut world, 9000);
    assert_eq!(world.says("copied-image"), None, "hardly more");
    devices(&mut world, 20_480);
    world.environment["devices"][0]["backing_file_copied_on_write"] = false.into();
    assert_eq!(world.says("copied-image"), None, "overwritten in place");
}

#[test]
fn a_raid_with_parity_is_a_cause_if_its_members_are_read() {
    let raid = |level| {
        serde_json::json!({ "devices": [
            { "name": "md0", "kind": "md", "above": null, "raid_level": level },
            { "name": "sda1", "kind": "partition", "above": "md0" },
            { "name": "sda", "kind": "disk", "above": "sda1" },
            { "name": "sdb", "kind": "disk", "above": "md0" },
        ]})
    };
    let members = [("sda", 16 * MIB, 33 * MIB), ("sdb", 18 * MIB, 31 * MIB)];
    assert_eq!(
        on_devices(raid("raid5"), &members).says("parity").expect("reported"),
        "md0 is a RAID 5, which reads old data or parity before it writes less than a stripe: while it wrote 32 MiB, its members read 34 MiB and wrote 64 MiB."
    );
    assert_eq!(on_devices(raid("raid10"), &members).says("parity"), None);
    let mut resync = on_devices(raid("raid5"), &members);
    let by = |name: &str| Issuer {
        kind: IssuerKind::Kernel,
        name: name.into(),
        read_bytes: 16 * MIB,
        ..Issuer::default()
    };
    let devices = &mut resync.repetition.block.as_mut().expect("watched").devices;
    devices[1].issuers = vec![by("md0_resync")];
    devices[2].issuers = vec![by("md0_resync")];
    assert_eq!(resync.says("parity"), None, "a resync reads, too");
    let whole = [("sda", MIB, 33 * MIB), ("sdb", MIB, 31 * MIB)];
    assert_eq!(on_devices(raid("raid5"), &whole).says("parity"), None, "whole stripes");
}

#[test]
fn a_raid_that_lacks_a_device_is_a_cause_if_more_is_read_than_was_asked_for() {
    let md = |missing: u64| {
        serde_json::json!({ "devices": [
            { "name": "md0", "kind": "md", "above": null, "raid_level": "raid5", "raid_missing": missing },
            { "name": "sda", "kind": "disk", "above": "md0" },
            { "name": "sdb", "kind": "disk", "above": "md0" },
        ]})
    };
    let of_md = |missing, read| {
        let mut world = on_devices(md(missing), &[("sda", read, 0), ("sdb", read, 0)]);
        let workers = World::new(OpKind::Read, 8192, 4096).repetition.workers;
        (world.phase.reads, world.phase.writes, world.phase.direct) = (true, false, true);
        world.repetition.workers = workers;
        world.device().requests = vec![requests(RequestClass::Read, 8192, 4096)];
        world.says("degraded")
    };
    assert_eq!(
        of_md(1, 22 * MIB).expect("reported"),
        "md0 is a RAID 5 that lacks one device: data of a missing device is computed from what the others hold. For 32 MiB that were read, 44 MiB were read from them."
    );
    assert_eq!(of_md(0, 22 * MIB), None, "complete");
    assert_eq!(of_md(1, 16 * MIB), None, "nothing had to be computed");
    let of_btrfs = |profile: &str, missing: u64| {
        let mut world = World::new(OpKind::Read, 256, 128 << 10);
        world.phase.direct = true;
        world.environment =
            serde_json::json!({ "filesystem": { "data_profile": profile, "missing_devices": missing } });
        let device = DeviceActivity {
            requests: vec![requests(RequestClass::Read, 344, 64 << 10)],
            ..DeviceActivity::default()
        };
        world.repetition.block.as_mut().expect("made with one").devices = vec![device.clone(), device];
        world.says("degraded")
    };
    assert!(of_btrfs("raid5", 1).expect("reported").starts_with("btrfs is a RAID 5 that lacks one device:"));
    assert_eq!(of_btrfs("raid5", 0), None);
    assert_eq!(of_btrfs("raid1", 1), None, "the other copy is read instead");
}

#[test]
fn an_image_inside_an_image_is_a_cause_if_the_time_passes_between() {
    let said = on_images(&[("loop1", "loop", 100), ("loop0", "loop", 80), ("vda", "disk", 50)]);
    assert_eq!(
        said.says("nested-loops").expect("reported"),
        "loop1 lies on an image inside an image (2 loop devices: loop1, loop0): of the 100 us that a request to it took, 50 % passed above vda, in the loop drivers and the file systems that hold the images."
    );
    let fast = on_images(&[("loop1", "loop", 100), ("loop0", "loop", 95), ("vda", "disk", 90)]);
    assert_eq!(fast.says("nested-loops"), None, "the disk takes the time");
    let one = on_images(&[("loop0", "loop", 100), ("vda", "disk", 50)]);
    assert_eq!(one.says("nested-loops"), None, "one image");
}

#[test]
fn an_image_in_many_pieces_is_a_cause_if_requests_are_split_below() {
    let of_size = |pieces: u64, piece: u64, below: u64| {
        let mut world = on_images(&[("loop0", "loop", 100), ("vda", "disk", 50)]);
        world.environment["devices"][0]["backing_file"] = "/srv/image".into();
        world.environment["devices"][0]["backing_file_pieces"] = pieces.into();
        world.environment["devices"][0]["backing_file_pieces_bytes"] = (pieces * piece).into();
        let devices = &mut world.repetition.block.as_mut().expect("made with one").devices;
        devices[0].requests = vec![requests(RequestClass::Read, 1000, 128 << 10)];
        devices[1].requests = vec![requests(RequestClass::Read, below, (1000 * (128 << 10)) / below)];
        world.says("fragmented-image")
    };
    let of = |pieces, below| of_size(pieces, 4096, below);
    assert_eq!(
        of(400, 32_000).expect("reported"),
        "The file behind loop0, /srv/image, lies in pieces of 4 KiB (mean of 400) on vda: 1000 requests of 128 KiB became 32000 requests of 4 KiB there."
    );
    assert_eq!(of(4, 32_000), None, "few pieces");
    assert_eq!(of_size(400, 128 * MIB, 32_000), None, "something else splits them");
    assert_eq!(of(400, 1000), None, "they stay whole");
}

#[test]
fn a_snapshot_is_a_cause_if_writes_read_what_was_there() {
    let volume = |below: &[(&str, &str)]| {
        let mut devices = vec![serde_json::json!({ "name": "dm-0", "kind": "device-mapper", "above": null })];
        devices.extend(below.iter().map(|(name, kind)| {
            serde_json::json!({ "name": name, "kind": "device-mapper", "above": "dm-0", "mapper_kind": kind })
        }));
        serde_json::json!({ "devices": devices })
    };
    let origin = volume(&[("dm-1", "snapshot-origin")]);
    let copied = [("dm-1", 32 * MIB, 64 * MIB)];
    assert_eq!(
        on_devices(origin.clone(), &copied).says("snapshot").expect("reported"),
        "dm-0 has a snapshot (LVM), and the first write to each chunk copies what was there: while 32 MiB were written, 32 MiB were read from below."
    );
    assert_eq!(on_devices(origin, &[("dm-1", 0, 32 * MIB)]).says("snapshot"), None, "copied before");
    let itself = volume(&[("dm-1", "snapshot-origin"), ("dm-2", "snapshot-store")]);
    let both = [("dm-1", 32 * MIB, 0), ("dm-2", 0, 64 * MIB)];
    let said = on_devices(itself, &both).says("snapshot").expect("reported");
    assert!(said.starts_with("dm-0 is a snapshot of LVM, and"), "{said}");
    let thin = volume(&[("dm-1", "snapshot-origin"), ("dm-2", "thin-pool")]);
    assert_eq!(on_devices(thin, &both).says("snapshot"), None, "the origin of a thin volume");
}

#[test]
fn an_encrypted_device_is_a_cause_if_the_disk_below_waits() {
    let mut world = processors_work_on(OpKind::Read);
    world.environment = serde_json::json!({ "devices": [
        { "name": "vda", "kind": "device-mapper", "above": null, "mapper_kind": "crypt" },
        { "name": "sda2", "kind": "partition", "above": "vda" },
        { "name": "sda", "kind": "disk", "above": "sda2" },
    ]});
    let sda = DeviceActivity {
        name: "sda".into(),
        level: 1,
        busy_ns: 80_000_000,
        requests: vec![requests(RequestClass::Read, 512, 524_288)],
        ..DeviceActivity::default()
    };
    world.device().busy_ns = 900_000_000;
    world.repetition.block.as_mut().expect("made with one").devices.push(sda);
    assert_eq!(
        world.says("encryption").expect("reported"),
        "vda encrypts what it holds (dm-crypt): 256 MiB had to be decrypted, and sda was idle for 92 % of the time."
    );
    world.device().busy_ns = 300_000_000;
    assert_eq!(world.says("encryption"), None, "dm-crypt was idle, too");
    world.device().busy_ns = 900_000_000;
    world.environment["devices"][0]["mapper_kind"] = serde_json::Value::Null;
    assert_eq!(world.says("encryption"), None);
}

#[test]
fn a_loop_device_that_passes_requests_on_late() {
    let mut world = World::new(OpKind::Read, 3783, 4096);
    world.repetition.elapsed_ns = 1_500_000_000;
    world.environment = serde_json::json!({
        "cpu": { "online": 2, "kernel_workers": 1 },
        "devices": [
            { "name": "loop0", "kind": "loop", "above": null, "direct_io": true },
            { "name": "vda", "kind": "disk", "above": "loop0" },
        ],
    });
    let device = |name: &str, level, busy_ns| DeviceActivity {
        name: name.into(),
        level,
        busy_ns,
        requests: vec![RequestStats {
            d2c: Histogram::from_values([busy_ns / 3783; 3783]),
            ..requests(RequestClass::Read, 3783, 4096)
        }],
        ..DeviceActivity::default()
    };
    let devices = |world: &mut World, below| {
        let both = vec![device("loop0", 0, 1_260_000_000), device("vda", 1, below)];
        world.repetition.block.as_mut().expect("made with one").devices = both;
    };
    devices(&mut world, 120_000_000);
    assert_eq!(
        world.says("loop-driver").expect("reported"),
        "loop0 had requests for 84 % of the time, but vda, which carries it, only for 8.0 %: the loop driver's kernel workers, or the file system of its image, passed them on late. The kernel's workers may use only 1 of 2 processors (/sys/devices/virtual/workqueue/cpumask)."
    );
    world.environment["cpu"]["kernel_workers"] = 2.into();
    assert!(world.says("loop-driver").expect("reported").ends_with("passed them on late."));
    devices(&mut world, 700_000_000);
    assert_eq!(world.says("loop-driver"), None, "as a healthy one");
    devices(&mut world, 120_000_000);
    let below = &mut world.repetition.block.as_mut().expect("made with one").devices[1];
    below.requests[0].q2d = Histogram::from_values([300_000; 3783]);
    assert_eq!(world.says("loop-driver"), None, "they waited in the queue below");
    devices(&mut world, 120_000_000);
    world.environment["devices"][0]["direct_io"] = false.into();
    assert_eq!(world.says("loop-driver"), None, "the page cache below answers");
}

#[test]
fn a_loop_device_without_direct_io_reads_its_image_in_turn() {
    let mut world = World::new(OpKind::Read, 26_789, 4096);
    world.repetition.elapsed_ns = 1_500_000_000;
    world.environment = serde_json::json!({
        "devices": [
            { "name": "loop0", "kind": "loop", "above": null, "direct_io": false },
            { "name": "vda", "kind": "disk", "above": "loop0" },
        ],
    });
    let device = |name: &str, level, each_ns| DeviceActivity {
        name: name.into(),
        level,
        busy_ns: 1_400_000_000,
        requests: vec![RequestStats {
            d2c: Histogram::from_values([each_ns; 26_789]),
            ..requests(RequestClass::Read, 26_789, 4096)
        }],
        ..DeviceActivity::default()
    };
    let below = |world: &mut World, each_ns| {
        let both = vec![device("loop0", 0, 1_700_000), device("vda", 1, each_ns)];
        world.repetition.block.as_mut().expect("made with one").devices = both;
    };
    below(&mut world, 50_000);
    let sentence = world.says("loop-driver").expect("sentence");
    assert!(
        sentence.contains("one request after the other: 30 requests were in it on average, and 0.9 in vda"),
        "{sentence}"
    );
    below(&mut world, 1_600_000);
    assert_eq!(world.says("loop-driver"), None, "they are passed on together");
    below(&mut world, 50_000);
    world.repetition.block.as_mut().expect("made with one").devices[1].requests[0].issued_bytes = 4096;
    assert_eq!(world.says("loop-driver"), None, "the image was in the page cache");
    below(&mut world, 50_000);
    world.environment["devices"][0]["direct_io"] = true.into();
    assert_eq!(world.says("loop-driver"), None, "with direct I/O they are not read in turn");
}

#[test]
fn an_image_that_a_program_serves() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.device().name = "loop0".into();
    world.device().busy_ns = 970_000_000;
    world.environment = serde_json::json!({ "devices": [
        { "name": "loop0", "kind": "loop", "backing_file": "/srv/image", "direct_io": true, "image_on": "fuse" },
    ]});
    assert_eq!(
        world.says("fuse").expect("reported"),
        "The file behind loop0, /srv/image, lies on fuse, so a program in user space handles each of its requests: they took 97 % of the time."
    );
    world.environment["devices"][0]["image_on"] = "ext4".into();
    assert_eq!(world.says("fuse"), None);
}
