//! Kept files of a workload: they stay and are later recognised as ours, and nothing else stays.

use fathom_testkit::Fathom;

#[test]
fn a_kept_file_stays_without_an_action_and_may_be_written_again() {
    let fathom = Fathom::new();
    let text = r#"
        name = "keep"
        [[fileset]]
        name = "d"
        files = { list = ["kept"] }
        size = { fixed = "64KiB" }
        keep = true
        [[fileset]]
        name = "e"
        files = { list = ["gone"] }
        size = { fixed = "64KiB" }
        [[phase]]
        name = "write"
        before = [{ prepare = "d" }, { prepare = "e" }]
        [[phase.group]]
        name = "g"
        [[phase.group.thread]]
        [phase.group.thread.program.stream]
        fileset = "d"
        direction = "write"
        record = { fixed = "4KiB" }
    "#;
    std::fs::write(fathom.work().join("w.toml"), text).unwrap();
    for _ in 0..2 {
        fathom.run(["run", "w.toml"]).expect_code(0);
        assert!(fathom.work().join("kept").is_file());
        assert!(!fathom.work().join("gone").exists());
    }
}
