//! Cached pages of a file are dropped between two passes.

use super::*;

/// Bytes read by the device and operations, for passes over 1 MiB.
fn read(rest: &str) -> (u64, u64) {
    let stream = format!(
        "direction = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\nlength = \"1MiB\"\naccess = \"permuted\"\namount = {{ passes = 3 }}\n{rest}"
    );
    let out = run(&workload(1, 1, "cache = \"cold\"", &stream), setup(NEW));
    let r = only(&out);
    (r.physical.devices[0].read_bytes >> 20, r.ops())
}

#[test]
fn every_pass_reads_from_the_device() {
    assert_eq!(read(""), (1, 768));
    assert_eq!(read("evict_passes = true"), (3, 768));
    let queued = "backend = { aio = {} }\nqueue_depth = 8\n";
    assert_eq!(read(queued), (1, 768));
    assert_eq!(read(&format!("{queued}evict_passes = true")), (3, 768));
}
