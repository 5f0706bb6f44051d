//! `cgroup`: jobs run in a control group that is made for them and removed afterwards.

use crate::fio::support::run;
use fathom_testkit::{Fathom, TestDir, need_root, skip};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A group of the test where fathom makes groups; `None` where none can be made.
fn group(name: &str) -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
    let of = |kind: &str, with: &str| {
        let lines = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let mut found = lines.filter(|words| words[2] == kind && words[3].contains(with));
        found.next().map(|words| Path::new(words[1]).join(name))
    };
    let group = of("cgroup", "blkio").or_else(|| of("cgroup2", ""))?;
    std::fs::create_dir(&group).ok()?;
    let can = std::fs::remove_dir(&group).is_ok();
    can.then_some(group)
}

#[test]
fn what_a_control_group_is_like_says_nothing_without_one() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let of =
        |name: &str, stays: u8| format!("--name={name} --ioengine=null --size=4k --cgroup_nodelete={stays}");
    run(&fathom, &format!("{} {}", of("a", 1), of("b", 0))).expect_code(0);
}

#[test]
fn jobs_run_in_a_control_group_that_goes_with_them() {
    let test = "jobs_run_in_a_control_group_that_goes_with_them";
    if !need_root(test) {
        return;
    }
    let name = format!("fathom-test-{}", std::process::id());
    let Some(group) = group(&name) else { return skip(test, "no control group can be made here") };
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let look = dir.path().join("look");
    std::fs::write(&look, "#!/bin/sh\ncat /proc/self/cgroup\n").unwrap();
    std::fs::set_permissions(&look, std::fs::Permissions::from_mode(0o755)).unwrap();
    let job = format!("--name=a --filename=f --rw=write --size=64k --cgroup={name}");
    run(&fathom, &format!("{job} --exec_prerun=./look")).expect_code(0);
    let during = std::fs::read_to_string(dir.path().join("a.prerun.txt")).unwrap();
    assert!(during.contains(&name), "{during}");
    assert!(!group.exists());
    run(&fathom, &format!("{job} --cgroup_nodelete=1")).expect_code(0);
    assert!(group.exists());
    // What was there before stays.
    run(&fathom, &job).expect_code(0);
    assert!(group.exists());
    std::fs::remove_dir(&group).unwrap();
    run(&fathom, &format!("{job} --name=b --filename=f --rw=read --size=64k"))
        .expect_code(1)
        .expect_stderr("do not ask for the same");
    run(&fathom, &job.replace(&name, &format!("{name}/below"))).expect_code(1).expect_stderr("cgroup: ");
    assert!(!group.exists());
}
