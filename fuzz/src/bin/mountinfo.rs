//! /proc/self/mountinfo: no text panics, and the mount that is found is one of those read.

#![no_main]

use fathom_observe::device::mount;
use fathom_observe::files::MountKey;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let mounts = mount::parse(text);
    assert!(mounts.len() <= text.lines().count());
    for m in &mounts {
        let _ = (m.option("rw"), m.has_option("subvol"));
        let by_id =
            mount::find(&mounts, &MountKey { mount_id: Some(m.id), device: m.device }, Path::new("/"));
        assert_eq!(by_id.map(|found| found.id), Some(m.id));
        let _ =
            mount::find(&mounts, &MountKey { mount_id: None, device: m.device }, Path::new(&m.mount_point));
    }
});
