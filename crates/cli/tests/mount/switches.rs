//! F7: the seven switches of a policy (elevator, deadline, joining, read-ahead, its extension of what is waited for, pages, free-behind) on and
//! off, each with every other: mounted, read to the last byte by tar, unmounted. All of them read the same bytes.

use crate::mount::support::{Mounted, can_mount, named, noise};
use fathom_testkit::iso::Builder;
use fathom_testkit::{Fathom, need_tool};
use std::fs;
use std::process::Command;

/// The switches that are an option each.
const SWITCHES: [[&str; 3]; 3] =
    [["--coalesce", "off", "on"], ["--chunk", "block", "page"], ["--free-behind", "off", "on"]];

/// Read-ahead and its extension are one option, too.
fn read_ahead(is_there: bool, extends: bool) -> &'static str {
    match (is_there, extends) {
        (true, true) => "hsfs,extend=1",
        (true, false) => "hsfs",
        (false, _) => "none",
    }
}

/// The elevator and its deadline are one option: whether it is there, and whether it looks at the time.
fn scheduler(is_there: bool, has_deadline: bool) -> String {
    let name = if is_there { "clook-hsfs" } else { "none" };
    match (is_there, has_deadline) {
        // An hour is longer than any of these reads waits.
        (true, false) => format!("{name},deadline=3600000"),
        (true, true) => format!("{name},deadline=5"),
        (false, _) => name.into(),
    }
}

/// Small files beside and in directories, and one that is larger than the cache of the test.
fn image() -> Vec<u8> {
    let mut builder = Builder::new()
        .rock_ridge("RRIP_1991A")
        .dir("dir", named("dir", 0o040_755, 2, None, b""))
        .add("large", named("large", 0o100_644, 1, None, &noise(2_500_001)));
    for n in 0..12 {
        let name = format!("file {n}");
        builder = builder.add(&format!("dir/f{n}"), named(&name, 0o100_644, 1, None, &noise(n * 1111)));
    }
    builder.build().bytes
}

/// What tar makes of the tree, summed.
fn tar_of(mount: &Mounted) -> String {
    let script = "tar --sort=name --numeric-owner -cf - . | cksum";
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-ec", script]).current_dir(&mount.on);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_combination_of_switches_is_mounted_and_read() {
    let test = "every_combination_of_switches_is_mounted_and_read";
    if !can_mount(test) || !need_tool(test, "tar") {
        return;
    }
    let mut fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), image()).unwrap();
    let mut mount = Mounted::again(fathom, &[]);
    let expected = tar_of(&mount);
    assert_eq!(fs::read(mount.on.join("large")).unwrap(), noise(2_500_001));
    mount.signal(libc::SIGINT);
    let _ = mount.finish().expect_code(0);
    fathom = mount.into_directory();
    for bits in 0..128_usize {
        let is = |bit: usize| bits >> bit & 1 == 1;
        let (elevator, read_ahead) = (scheduler(is(3), is(4)), read_ahead(is(5), is(6)));
        let mut options =
            vec!["--counters", "--policy", "seed", "--cache-size", "1MiB", "--scheduler", &elevator];
        options.extend(["--read-ahead", read_ahead]);
        // Not one of the seven; alternates, so that each of them is combined with both.
        options.extend(["--per-open", if bits.count_ones().is_multiple_of(2) { "off" } else { "on" }]);
        for (bit, [option, off, on]) in SWITCHES.into_iter().enumerate() {
            options.extend([option, if is(bit) { on } else { off }]);
        }
        let mut mount = Mounted::again(fathom, &options);
        let read = tar_of(&mount);
        mount.signal(libc::SIGINT);
        let outcome = mount.finish().expect_code(0);
        assert_eq!(read, expected, "{options:?}");
        let counted = outcome.stderr.lines().find(|line| line.starts_with('{')).expect("counters");
        let counted: serde_json::Value = serde_json::from_str(counted).unwrap();
        assert_eq!(
            (&counted["scheduler"], &counted["read_ahead"]),
            (&elevator.as_str().into(), &read_ahead.into())
        );
        let many = |key: &str| counted[key].as_u64().unwrap() > 0;
        assert_eq!(many("pages_read_ahead"), is(5), "{options:?}: {counted}");
        assert!(many("requests") && (is(0) || !many("requests_joined")), "{options:?}: {counted}");
        fathom = mount.into_directory();
    }
}
