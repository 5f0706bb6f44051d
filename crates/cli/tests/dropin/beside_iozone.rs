//! Our layout compared with IOzone's own, where IOzone is installed. The golden files follow the specification (release
//! 3.471); this test compares with the installed release.

use crate::dropin::layout::layout;
use fathom_testkit::{Fathom, skip};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

const IOZONE: &str = "/usr/bin/iozone";

/// Command lines whose layout is the same in 3.471 and later.
const LINES: [&str; 9] = [
    "-s 1m -r 4k -i 0 -i 1",
    "-s 512k -r 64k",
    "-Ra -n 64k -g 128k -i 0 -i 2 -i 5",
    "-s 512 -E -i 9 -i 10",
    "-s 512k -r 64k -B -R",
    "-s 512k -r 64k -O -+n -+u -R",
    "-s 512k -r 64k -N -e -c",
    "-t 2 -s 512k -r 64k -i 0 -+n -R -C",
    "-t 2 -a",
];

/// Drops the release number and the nine or more lines of names.
fn comparable(output: &str) -> String {
    let mut text = String::new();
    let mut lines = output.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.contains("Version $Revision:") {
            text += "(release)\n";
        } else if line.starts_with("\tContributors:") {
            let _ = lines.by_ref().take_while(|l| *l != "\n").count();
            text += "(names)\n\n";
        } else {
            text += line;
        }
    }
    layout(&text)
}

#[test]
fn layout_is_iozones_own() {
    if !Path::new(IOZONE).exists() {
        skip("layout_is_iozones_own", "IOzone is not installed as /usr/bin/iozone");
        return;
    }
    for line in LINES {
        let fathom = Fathom::new();
        let ours = fathom.run_line(&format!("iozone {line}"));
        let theirs = Command::new(IOZONE)
            .arg0("iozone")
            .args(line.split(' '))
            .current_dir(fathom.work())
            .output()
            .unwrap();
        assert_eq!(ours.code, theirs.status.code(), "iozone {line}");
        let (ours, theirs) = (comparable(&ours.stdout), comparable(&String::from_utf8_lossy(&theirs.stdout)));
        assert!(
            ours == theirs,
            "iozone {line} (- IOzone, + fathom)\n{}",
            fathom_testkit::golden::diff(&theirs, &ours)
        );
    }
}
