//! The block devices below the file system, one entry each, nearest to the file system first.

use super::{Document, chosen};
use crate::device::{Device, DeviceKind, DeviceStack};
use crate::{extents, sha256};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Sector size in sysfs, for every device.
const SECTOR_BYTES: u64 = 512;

/// Number of extents that say whether a file is fragmented.
const EXTENTS_SEEN: usize = 1000;

pub(super) fn capture(doc: &mut Document, stack: &DeviceStack) {
    let all: Vec<Value> = stack.devices.iter().map(|d| describe(doc, d)).collect();
    let why = stack.note.clone().unwrap_or_else(|| "no block device was found".into());
    doc.set("devices", (!all.is_empty()).then_some(all), &why);
    // Having no note is normal; the key is not listed as missing.
    doc.root.insert("devices_note".into(), stack.note.clone().into());
}

fn describe(doc: &Document, device: &Device) -> Value {
    let text = |path: PathBuf| doc.files.trimmed(&path);
    // A partition has no queue or model; those of its disk are used.
    let disk: &Path = match device.kind {
        DeviceKind::Partition => device.sys.parent().unwrap_or(&device.sys),
        _ => &device.sys,
    };
    let queue = |name: &str| text(disk.join("queue").join(name));
    let number = |name: &str| queue(name).and_then(|t| t.parse::<i64>().ok());
    let flag = |name: &str| queue(name).map(|t| t != "0");
    let hardware = |names: &[&str]| names.iter().find_map(|n| text(disk.join("device").join(n)));
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| {
        entry.insert(name.to_string(), value);
    };
    put("name", device.name.clone().into());
    put("number", format!("{}:{}", device.number.0, device.number.1).into());
    put("kind", serde_json::to_value(device.kind).unwrap_or_default());
    put("role", serde_json::to_value(device.role).unwrap_or_default());
    put("level", device.level.into());
    put("above", device.above.clone().into());
    put("model", hardware(&["model"]).into());
    put("vendor", hardware(&["vendor"]).filter(|v| !v.starts_with("0x")).into());
    put("firmware", hardware(&["firmware_rev", "rev"]).into());
    put("transport", transport(disk).into());
    put("serial_sha256", serial(doc, disk).map(|s| sha256::hex(&s)).into());
    put("mapper_name", text(device.sys.join("dm/name")).into());
    let uuid = text(device.sys.join("dm/uuid"));
    put("mapper_kind", uuid.as_deref().and_then(mapper_kind).into());
    put("raid_level", text(device.sys.join("md/level")).into());
    put("raid_missing", text(device.sys.join("md/degraded")).and_then(|t| t.parse::<u64>().ok()).into());
    put("backing_file", text(device.sys.join("loop/backing_file")).into());
    put("image_on", device.image_on.clone().into());
    put("backing_file_copied_on_write", copied_on_write(doc, device).into());
    let pieces = backing_file(doc, device).and_then(|file| extents::pieces(&file, EXTENTS_SEEN));
    put("backing_file_pieces", pieces.map(|p| p.0).into());
    put("backing_file_pieces_bytes", pieces.map(|p| p.1).into());
    put("direct_io", text(device.sys.join("loop/dio")).map(|t| t == "1").into());
    let size = text(device.sys.join("size")).and_then(|t| t.parse::<u64>().ok());
    put("size_bytes", size.map(|s| s.saturating_mul(SECTOR_BYTES)).into());
    put("logical_block_bytes", number("logical_block_size").into());
    put("physical_block_bytes", number("physical_block_size").into());
    put("optimal_io_bytes", number("optimal_io_size").into());
    put("rotational", flag("rotational").into());
    put("scheduler", queue("scheduler").map(|t| chosen(&t)).into());
    put("schedulers", queue("scheduler").map(|t| t.replace(['[', ']'], "")).into());
    put("scheduler_tunables", tunables(doc, &disk.join("queue/iosched")));
    for name in [
        "nr_requests",
        "read_ahead_kb",
        "max_sectors_kb",
        "max_hw_sectors_kb",
        "nomerges",
        "rq_affinity",
        "wbt_lat_usec",
        "io_poll",
    ] {
        put(name, number(name).into());
    }
    put("write_cache", queue("write_cache").into());
    put("counts_flushes", counts_flushes(doc, disk).into());
    put("fua", flag("fua").into());
    put("stable_writes", flag("stable_writes").into());
    put("discard_granularity_bytes", number("discard_granularity").into());
    put("discard_max_bytes", number("discard_max_bytes").into());
    put("zoned", queue("zoned").into());
    put("numa_node", hardware(&["numa_node", "device/numa_node"]).and_then(|t| t.parse::<i64>().ok()).into());
    Value::Object(entry)
}

/// Whether the kernel counts the flushes of a disk: since Linux 5.5, where the queue takes requests (not for md, most of device mapper).
fn counts_flushes(doc: &Document, disk: &Path) -> Option<bool> {
    const FIELDS: usize = 17;
    let fields = doc.files.trimmed(&disk.join("stat"))?.split_ascii_whitespace().count();
    Some(fields >= FIELDS && doc.files.list(&disk.join("mq")).is_ok())
}

/// What a device-mapper device does, as far as the beginning or the end of its uuid says it.
fn mapper_kind(uuid: &str) -> Option<&'static str> {
    let ends = |all: &[&str]| all.iter().any(|end| uuid.ends_with(end));
    // Not CRYPT-VERITY- and CRYPT-INTEGRITY-, and not drives that encrypt by themselves.
    let crypt = ["LUKS1-", "LUKS2-", "PLAIN-", "LOOPAES-", "TCRYPT-", "BITLK-", "FVAULT2-"];
    let encrypts = uuid.strip_prefix("CRYPT-").is_some_and(|kind| crypt.iter().any(|c| kind.starts_with(c)));
    if encrypts && !uuid.starts_with("CRYPT-LUKS2-OPAL-") {
        Some("crypt")
    } else if ends(&["-tpool", "-pool", "-tdata"]) {
        Some("thin-pool")
    } else if ends(&["-cow"]) {
        Some("snapshot-store")
    } else if ends(&["-real"]) {
        Some("snapshot-origin")
    } else {
        None
    }
}

/// Whether the file behind a loop device lies on a file system that writes each block to a new place.
fn copied_on_write(doc: &Document, device: &Device) -> Option<bool> {
    doc.files.is_copied_on_write(&backing_file(doc, device)?)
}

fn backing_file(doc: &Document, device: &Device) -> Option<PathBuf> {
    doc.files.trimmed(&device.sys.join("loop/backing_file")).map(PathBuf::from)
}

/// The scheduler's tunables, which exist only while it is active.
fn tunables(doc: &Document, dir: &Path) -> Value {
    let names = doc.files.list(dir).unwrap_or_default();
    names
        .into_iter()
        .filter_map(|n| Some((n.clone(), doc.files.trimmed(&dir.join(&n))?.into())))
        .collect::<Map<_, _>>()
        .into()
}

/// How the disk is attached, from its position in the device tree.
fn transport(disk: &Path) -> Option<&'static str> {
    let path = disk.to_string_lossy();
    let known = [
        ("/nvme-fabrics/", "nvme over fabrics"),
        ("/nvme", "nvme"),
        ("/usb", "usb"),
        ("/virtio", "virtio"),
        ("/ata", "ata"),
        ("/mmc_host/", "mmc"),
        ("/session", "iscsi"),
        ("/rport-", "fibre channel"),
        ("/end_device-", "sas"),
        ("/vbd-", "xen"),
        ("/vmbus", "hyper-v"),
        ("/host", "scsi"),
        ("/virtual/", "none"),
    ];
    known.iter().find(|(part, _)| path.contains(part)).map(|&(_, name)| name)
}

/// The serial number: a file for NVMe and virtio, a page of vital product data with a header of four bytes for SCSI and ATA.
fn serial(doc: &Document, disk: &Path) -> Option<String> {
    let plain = ["device/serial", "serial"].iter().find_map(|n| doc.files.trimmed(&disk.join(n)));
    plain.or_else(|| {
        let page = doc.files.read(&disk.join("device/vpd_pg80")).ok()?;
        let body: String = page.chars().skip(4).filter(|c| c.is_ascii_graphic()).collect();
        Some(body).filter(|b| !b.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transport_is_read_from_the_place() {
        for (path, wanted) in [
            ("/sys/devices/pci0000:00/0000:00:1d.0/nvme/nvme0/nvme0n1", Some("nvme")),
            ("/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda", Some("ata")),
            ("/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/host6/block/sdb", Some("usb")),
            ("/sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda", Some("virtio")),
            ("/sys/devices/virtual/block/loop0", Some("none")),
            ("/sys/devices/platform/x", None),
        ] {
            assert_eq!(transport(Path::new(path)), wanted, "{path}");
        }
    }
}
