//! The commands of docs/fio.md are executed literally.

use fathom_testkit::{Fathom, TestDir};

#[test]
fn the_commands_of_the_manual_run() {
    let manual = include_str!("../../../../docs/fio.md");
    let dir = TestDir::new();
    std::fs::write(dir.path().join("job.fio"), "[a]\nrw=randrw\nsize=1m\n").unwrap();
    let fathom = Fathom::new().working_in(dir.path());
    let block = manual.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let commands: Vec<&str> = block.lines().filter_map(|l| l.strip_prefix("fathom ")).collect();
    assert_eq!(commands.len(), 4);
    for command in commands {
        fathom.run_line(command).expect_code(0);
    }
    assert!(dir.path().join("result.json").exists());
}
