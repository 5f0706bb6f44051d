//! Other contents of an image besides its files: boot images, partition tables, a UDF recognition area, earlier sessions, the
//! overhead of raw sectors.

use super::{Content, ImageTree, Valid, noise};
use crate::iso::{Boot, Builder, both32, raw};

pub(super) fn all() -> Vec<Valid> {
    let boot = |platform, media, image: &[u8]| Boot { platform, media, image: image.to_vec() };
    let several = Builder::new()
        .boot_image(boot(0, 0, &[7; 2048]))
        .boot_image(boot(0xEF, 0, &[8; 4096]))
        .boot_image(boot(0, 2, &noise(1440 << 10)))
        .boot_image(boot(0, 4, &disk()));
    let wrapped = |name, bytes, mode| {
        let plain = ImageTree::usual(Builder::new()).built(name);
        Valid { bytes: raw::wrap(&plain.bytes, bytes, mode), ..plain }
    };
    vec![
        ImageTree::usual(Builder::new().boot(&[7; 2048])).built("El Torito"),
        ImageTree::usual(several).built("El Torito for BIOS and EFI, of a floppy and a disk"),
        ImageTree::usual(Builder::new().udf()).built("recognition area of UDF"),
        ImageTree::usual(Builder::new().system_area(&hybrid())).built("hybrid with MBR and GPT"),
        sessions("1 session, the last", 1),
        sessions("2 sessions, the last", 2),
        sessions("5 sessions, the last", 5),
        wrapped("raw sectors of 2352, mode 1", 2352, 1),
        wrapped("raw sectors of 2352, mode 2", 2352, 2),
    ]
}

/// A boot record with one partition.
fn boot_record(kind: u8, first: u32, sectors: u32) -> Vec<u8> {
    let mut record = vec![0; 512];
    record[446 + 4] = kind;
    record[446 + 8..446 + 12].copy_from_slice(&first.to_le_bytes());
    record[446 + 12..446 + 16].copy_from_slice(&sectors.to_le_bytes());
    record[510..].copy_from_slice(&[0x55, 0xAA]);
    record
}

/// A disk of 64 KiB in one partition.
fn disk() -> Vec<u8> {
    let mut disk = boot_record(0x06, 8, 120);
    disk.resize(128 * 512, 3);
    disk
}

/// The system area of a hybrid image: a protective boot record and a table with one partition.
fn hybrid() -> Vec<u8> {
    const BASIC_DATA: [u8; 16] =
        [0xA2, 0xA0, 0xD0, 0xEB, 0xE5, 0xB9, 0x33, 0x44, 0x87, 0xC0, 0x68, 0xB6, 0xB7, 0x26, 0x99, 0xC7];
    let mut partition = vec![0; 128];
    partition[..16].copy_from_slice(&BASIC_DATA);
    partition[16..32].fill(0x11);
    partition[32..40].copy_from_slice(&64_u64.to_le_bytes());
    partition[40..48].copy_from_slice(&499_u64.to_le_bytes());
    let mut entries = partition;
    entries.resize(4 * 128, 0);
    let mut header = vec![0; 92];
    header[..8].copy_from_slice(b"EFI PART");
    header[8..16].copy_from_slice(&[0, 0, 1, 0, 92, 0, 0, 0]);
    for (at, block) in [(24, 1_u64), (32, 899), (40, 34), (48, 865), (72, 2)] {
        header[at..at + 8].copy_from_slice(&block.to_le_bytes());
    }
    header[56..72].fill(0x22);
    header[80..84].copy_from_slice(&4_u32.to_le_bytes());
    header[84..88].copy_from_slice(&128_u32.to_le_bytes());
    header[88..92].copy_from_slice(&crc32(&entries).to_le_bytes());
    let sum = crc32(&header);
    header[16..20].copy_from_slice(&sum.to_le_bytes());
    let mut area = boot_record(0xEE, 1, 899);
    area.extend(header);
    area.resize(2 * 512, 0);
    area.extend(entries);
    area
}

/// The CRC-32 of GPT.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

/// Consecutive sessions. Each has its own file and one of the first session, whose data stay in place.
fn sessions(name: &'static str, count: usize) -> Valid {
    let kept = noise(5000);
    let own = |n: usize| format!("from session {n}\n");
    let mut bytes = Vec::new();
    let mut first = 0;
    for n in 1..=count {
        let builder = Builder::new().after(bytes).file(&format!("s{n}"), own(n).as_bytes());
        let mut built = builder.file("kept", &kept).tail(150).build();
        if n == 1 {
            first = built.data["kept"];
        } else {
            let copy = built.data["kept"];
            built.patch(copy, &[0xDD; 5000]);
            let block = u32::try_from(first / 2048).expect("a small image");
            built.patch(built.record("kept") + 2, &both32(block));
        }
        bytes = built.bytes;
    }
    let tree = vec![
        (format!("s{count}"), Content::File(own(count).into_bytes())),
        ("kept".into(), Content::File(kept)),
    ];
    Valid { name, bytes, tree, attributes: Vec::new(), newest: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn the_tables_leave_the_descriptors_alone() {
        assert!(hybrid().len() <= 16 * 2048 && hybrid()[510..520] == *b"\x55\xAAEFI PART");
    }
}
