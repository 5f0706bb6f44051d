//! Data on disk: syncs, and data that is read back.

use super::both::{Both, WHO, jobs, number};
use crate::fio::support::FIO;
use fathom_testkit::need_tool;
use std::process::{Command, Stdio};

#[test]
fn case_17_syncs_are_counted_and_the_last_is_inside_the_time() {
    let test = "case_17_syncs_are_counted_and_the_last_is_inside_the_time";
    let Some(both) = Both::new(test) else { return };
    for (who, document) in WHO.iter().zip(both.json("--name=w --rw=write --size=8m --bs=4k --fsync=32")) {
        assert_eq!(number(&jobs(&document)[0]["sync"]["total_ios"]), 63, "{who}");
    }
    if !need_tool(test, "strace") {
        return;
    }
    // A sync that takes 400 ms shows in the time of the writes, which take almost none.
    let line = "--output-format=json --name=e --rw=write --size=1m --end_fsync=1";
    let ours = both.fathom().command(std::iter::once("fio").chain(line.split_whitespace()));
    let mut theirs = Command::new(FIO);
    theirs.args(line.split_whitespace()).current_dir(both.directories()[1]);
    for (who, command) in WHO.iter().zip([&ours, &theirs]) {
        let mut tracer = Command::new("strace");
        tracer.args(["-f", "-q", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=fsync"]);
        tracer.args(["-e", "inject=fsync:delay_enter=400000", "--"]);
        tracer.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
        tracer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        tracer.current_dir(command.get_current_dir().unwrap());
        let done = tracer.output().unwrap();
        if !done.status.success() {
            fathom_testkit::skip(test, &format!("strace: {}", String::from_utf8_lossy(&done.stderr)));
            return;
        }
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let document: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let runtime = number(&jobs(&document)[0]["write"]["runtime"]);
        assert!(runtime >= 400, "{who}: {runtime} ms");
    }
}

#[test]
fn case_18_what_was_written_is_read_back_and_damage_is_found() {
    let Some(both) = Both::new("case_18_what_was_written_is_read_back_and_damage_is_found") else { return };
    let line = "--name=v --filename=v --bs=4k --size=4m --verify=crc32c";
    for (who, document) in WHO.iter().zip(both.json(&format!("{line} --rw=write"))) {
        let job = &jobs(&document)[0];
        assert_eq!((number(&job["error"]), number(&job["read"]["total_ios"])), (0, 1024), "{who}");
    }
    for (who, document) in WHO.iter().zip(both.json(&format!("{line} --rw=read"))) {
        let job = &jobs(&document)[0];
        assert_eq!((number(&job["error"]), number(&job["read"]["total_ios"])), (0, 1024), "{who}");
    }
    for dir in both.directories() {
        let mut bytes = std::fs::read(dir.join("v")).unwrap();
        bytes[8192..8196].copy_from_slice(b"oops");
        std::fs::write(dir.join("v"), bytes).unwrap();
    }
    for (who, end) in WHO.iter().zip(both.run(&format!("{line} --rw=read"))) {
        assert_eq!(end.code, Some(1), "{who}");
        // fio says it between its results.
        let said = end.stdout + &end.stderr;
        assert!(said.contains("offset 8192"), "{who}: {said}");
    }
}
