//! How it ends where there is nothing to import, or no file.

use crate::import::{ids, with_mail};

#[test]
fn a_file_without_any_output_is_told_with_what_is_known() {
    let fathom = with_mail();
    std::fs::write(fathom.work().join("prose.txt"), "Dear all,\nnothing to report.\n").expect("a text");
    let outcome = fathom.run(["import", "prose.txt", "mail.txt"]).expect_code(2);
    let _ = outcome
        .expect_stderr("prose.txt contains no known output")
        .expect_stderr("iozone, sysbench, filebench, fio, ioping, bonnie++, stress-ng, dbench, yabs, diskmark, pgbench, elbencho, vdbench, phoronix, dtrace, dd, time, sar, iostat, hyperfine, fsperf, mmtests, table")
        .expect_stdout("mail.txt:");
    assert_eq!(ids(&fathom).len(), 2, "what the other file holds is kept");
}

#[test]
fn an_empty_file_and_json_that_was_cut_off_are_told_as_that() {
    let fathom = with_mail();
    std::fs::write(fathom.work().join("empty.log"), "").expect("a file");
    std::fs::write(fathom.work().join("cut.json"), "{\n  \"fio version\": \"fio-3.36\",\n  \"jo")
        .expect("a file");
    let _ = fathom
        .run(["import", "empty.log", "cut.json"])
        .expect_code(2)
        .expect_stderr("empty.log is empty; a log or an output of another program is expected")
        .expect_stderr("cut.json begins as JSON and is broken or cut off: EOF while parsing")
        .expect_stderr("at line 3 column");
}

#[test]
fn a_file_that_is_not_there_keeps_nothing_of_the_others() {
    let fathom = with_mail();
    let _ = fathom
        .run(["import", "mail.txt", "gone.txt"])
        .expect_code(2)
        .expect_stderr("gone.txt cannot be read");
    assert!(ids(&fathom).is_empty());
}

#[test]
fn it_is_said_what_columns_were_taken_for_and_who_imports_decides() {
    let fathom = with_mail();
    let table = |heads: &str| {
        format!("Throughput in MB/s:\n\ntest {heads}\n-----------------\nread 100 102\nwrite 50 51\n")
    };
    std::fs::write(fathom.work().join("systems.txt"), table("rc8 rc9")).expect("a text");
    std::fs::write(fathom.work().join("repeats.txt"), table("run1 run2")).expect("a text");
    let labels = || -> Vec<String> {
        let listed = fathom.run(["list", "--json"]).expect_code(0).stdout;
        let runs: serde_json::Value = serde_json::from_str(&listed).unwrap_or_default();
        runs.as_array()
            .into_iter()
            .flatten()
            .rev()
            .filter_map(|r| Some(r["label"].as_str()?.to_owned()))
            .collect()
    };
    let _ = fathom.run(["import", "systems.txt"]).expect_code(0).expect_stdout(
        "rows are cells, columns taken for systems, one value a cell (rc8, rc9); --columns repeats if they are one system measured again",
    );
    assert_eq!(labels(), ["rc8", "rc9"]);
    let guessed = fathom.run(["import", "repeats.txt"]).expect_code(0);
    let _ = guessed.expect_stdout("columns taken for repeats of one system by their heads (run1, run2)");
    let all = labels();
    assert_eq!(all[2], all[3], "one name: {all:?}");
    let told = fathom.run(["import", "--columns", "systems", "repeats.txt"]).expect_code(0);
    let _ = told.expect_stdout("columns are systems, as told (run1, run2)");
    assert_eq!(labels()[4..], ["run1", "run2"]);
}
