//! Notations of sizes: both programs read each as the same number of bytes.

use super::both::{Both, WHO, jobs, number};

/// Options of a job of one direction, and the bytes of a block that they come to.
const SIZES: [(&str, u64); 14] = [
    ("--bs=4k", 4096),
    ("--bs=4K", 4096),
    ("--bs=4kb", 4096),
    ("--bs=4096", 4096),
    ("--bs=0x1000", 4096),
    ("--bs=4ki", 4096),
    ("--bs=4kib", 4000),
    ("--kb_base=1000 --bs=4k", 4000),
    ("--kb_base=1000 --bs=4kib", 4096),
    ("--bs=4k,8k", 4096),
    ("--rw=write --bs=4k,8k", 8192),
    ("--bs=,8k", 4096),
    ("--rw=write --bs=,8k", 8192),
    ("--rw=write --bs=16k,", 4096),
];

#[test]
fn case_04_sizes_and_their_suffixes() {
    let Some(both) = Both::new("case_04_sizes_and_their_suffixes") else { return };
    for (line, bytes) in SIZES {
        let documents = both.json(&format!("--name=a --ioengine=null --number_ios=10 --size=1m {line}"));
        for (who, document) in WHO.iter().zip(documents) {
            let job = &jobs(&document)[0];
            let of = |key: &str| number(&job["read"][key]) + number(&job["write"][key]);
            assert_eq!(of("io_bytes") / of("total_ios"), bytes, "{who}: {line}");
        }
    }
}
