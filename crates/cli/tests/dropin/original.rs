//! `fathom show --original`: prints a stored run again, character for character.

use fathom_testkit::{Fathom, Outcome, moved_by_workers};
use std::fs;

#[track_caller]
fn assert_same(fathom: &Fathom, printed: &Outcome) {
    let again = fathom.run_line("show --original").expect_code(0).stdout;
    assert!(again == printed.stdout, "{}", fathom_testkit::golden::diff(&printed.stdout, &again));
}

#[test]
fn a_stored_run_prints_as_it_did() {
    for line in [
        "-s 256k -r 16k",
        "-Ra -g 128k -i 0 -i 1 -i 2",
        "-s 64k -O -i 0 -i 1 -+u -R",
        "-s 64k -N -E",
        "-s 64k -B -M -i 0",
        "-Rb out.wks -s 256k -s 64k -r 32k -r 16k -i 0 -+n",
        "-t 2 -s 256k -r 16k -R -C -+u",
        "-l 1 -u 2 -s 256k -r 16k -i 0 -i 8 -R -O",
        "-T -t 2 -t 1 -s 256k -r 16k -i 0 -x",
        "-X list -Y list",
    ] {
        let fathom = Fathom::new();
        fs::write(fathom.work().join("list"), "# three operations\n0 4096\n8192 4096\n4096 4096 1\n")
            .unwrap();
        let outcome = fathom.run_line(&format!("iozone {line}")).expect_code(0);
        assert_same(&fathom, &outcome);
    }
}

#[test]
fn a_run_that_failed_prints_as_it_did() {
    for (line, code) in [("-s 64k -i 1", 58), ("-s 64k -i 0 -f missing/file", 44)] {
        let fathom = Fathom::new();
        let outcome = fathom.run_line(&format!("iozone {line}")).expect_code(code);
        assert_same(&fathom, &outcome);
    }
}

#[test]
fn an_interrupted_run_prints_as_it_did() {
    let fathom = Fathom::new();
    let mut running = fathom.spawn("iozone -R -s 256k -r 16k -+O 16 -i 0 -i 1".split(' '));
    let (file, pid) = (fathom.work().join("iozone.tmp"), running.pid());
    // The first pass has written everything, and the worker of the second has started.
    running.wait_until("the second pass", || {
        file.metadata().is_ok_and(|m| m.len() == 256 << 10)
            && (64 << 10..224 << 10).contains(&moved_by_workers(pid))
    });
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    assert_same(&fathom, &outcome);
}

#[test]
fn a_link_named_iozone_is_remembered() {
    let fathom = Fathom::new();
    let link = fathom.dir().subdir("bin").join("iozone");
    std::os::unix::fs::symlink(fathom.command([""]).get_program(), &link).unwrap();
    let mut command = fathom.command(["-s", "64k", "-i", "0"]);
    let out = std::process::Command::new(&link)
        .args(command.get_args())
        .current_dir(fathom.work())
        .envs(command.get_envs().filter_map(|(n, v)| v.map(|v| (n, v))))
        .output()
        .unwrap();
    assert!(out.status.success());
    command.env("unused", "");
    let again = fathom.run_line("show --original").expect_code(0).stdout;
    assert_eq!(again, String::from_utf8_lossy(&out.stdout));
}
