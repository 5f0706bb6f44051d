//! Stored results: list, show, export, report and rm, and the names they take.

use crate::measure::workloads::{Text, last_run, runs};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, find_tool};
use serde_json::Value;
use std::process::Command;

fn measure(fathom: &Fathom, name: &str) -> String {
    let workload = Text::new(name).quick_write(fathom.work()).save(fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
    let run = runs(fathom).pop().expect("it was kept");
    run["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_run_comes_back_in_every_form_and_goes() {
    let fathom = Fathom::new();
    let id = measure(&fathom, "the one");
    let list = fathom.run(["list"]).expect_code(0).expect_stdout(&id).expect_stdout("completed");
    assert_eq!(list.stdout.lines().count(), 2, "a head and a run: {}", list.stdout);
    let shown =
        fathom.run(["show", &id]).expect_code(0).expect_stdout("the one").expect_stdout("quick write");
    assert!(shown.stdout.lines().all(|l| l.chars().count() <= 80), "{}", shown.stdout);
    assert_eq!(shown.stdout, fathom.run(["show", "last"]).expect_code(0).stdout);
    let exported = fathom.run(["export", &id]).expect_code(0).stdout;
    let run: Value = serde_json::from_str(&exported).expect("JSON");
    assert_eq!(run["id"], id.as_str());
    assert_eq!(exported, fathom.run(["show", &id, "--json"]).expect_code(0).stdout);
    let _ = fathom.run(["report", &id, "-o", "out.json"]).expect_code(0);
    assert_eq!(std::fs::read_to_string(fathom.work().join("out.json")).expect("written"), exported);
    let page = format!("fathom-{id}.html");
    let _ = fathom.run(["report", "last"]).expect_code(0).expect_stderr(&format!("wrote {page}"));
    assert!(std::fs::read_to_string(fathom.work().join(&page)).expect("a page").contains("the one"));
    let _ = fathom
        .run(["report", &id])
        .expect_code(2)
        .expect_stderr(&format!("{page} exists; --force overwrites it"));
    let _ = fathom.run(["rm", &id]).expect_code(0).expect_stdout(&format!("removed {id}"));
    assert!(runs(&fathom).is_empty());
    let empty = fathom.run(["list"]).expect_code(0);
    assert!(empty.stderr.contains("`fathom survey` makes the first"), "{}", empty.stderr);
}

#[test]
fn names_that_fit_no_run_or_several_are_told_apart() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["show", "last"]).expect_code(2);
    assert!(outcome.stderr.contains("error:"), "{}", outcome.stderr);
    let (first, second) = (measure(&fathom, "first"), measure(&fathom, "second"));
    for command in [["show", "zzz"], ["export", "zzz"], ["rm", "zzz"]] {
        let outcome = fathom.run(command).expect_code(2);
        assert!(
            outcome.stderr.contains("zzz") && outcome.stderr.contains("fathom list"),
            "{}",
            outcome.stderr
        );
    }
    let outcome = fathom.run(["report", "zzz", "-o", "x.md"]).expect_code(2);
    assert!(outcome.stderr.contains("zzz"), "{}", outcome.stderr);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    let common: String =
        first.chars().zip(second.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    for command in [["show", &common], ["rm", &common]] {
        let outcome = fathom.run(command).expect_code(2);
        assert!(outcome.stderr.contains(&first) && outcome.stderr.contains(&second), "{}", outcome.stderr);
    }
    assert_eq!(runs(&fathom).len(), 2, "an ambiguous name removes nothing");
    let prefix = &first[..=common.len()];
    let shown = fathom.run(["show", prefix, "--json"]).expect_code(0);
    assert!(shown.stdout.contains(&first), "the beginning of an id is enough");
}

#[test]
fn several_are_removed_together_or_not_at_all() {
    let fathom = Fathom::new();
    let ids = ["a", "b", "c"].map(|name| measure(&fathom, name));
    let _ = fathom.run(["rm", &ids[0], "zzz"]).expect_code(2);
    assert_eq!(runs(&fathom).len(), 3, "one bad name, and nothing goes");
    let removed = fathom.run(["rm", &ids[0], &ids[2], &ids[0], "--json"]).expect_code(0).stdout;
    let removed: Value = serde_json::from_str(&removed).expect("JSON");
    assert_eq!(removed["removed"].as_array().map(Vec::len), Some(2), "named twice, removed once");
    assert_eq!(last_run(&fathom)["id"], ids[1].as_str());
    let newest = fathom.run(["list", "-n", "1"]).expect_code(0).expect_stdout(&ids[1]);
    assert!(!newest.stdout.contains(&ids[0]));
}

#[test]
fn the_newest_runs_are_listed_first() {
    let fathom = Fathom::new();
    let ids = ["a", "b", "c"].map(|name| measure(&fathom, name));
    let listed: Vec<String> = runs(&fathom).iter().map(|r| r["id"].as_str().expect("an id").into()).collect();
    assert_eq!(listed, ids);
    let two = fathom.run(["list", "-n", "2"]).expect_code(0).stdout;
    assert!(!two.contains(&ids[0]) && two.contains(&ids[1]) && two.contains(&ids[2]), "{two}");
}

#[test]
fn a_report_of_two_runs_has_their_ratio() {
    let fathom = Fathom::new();
    for _ in 0..2 {
        let _ = fathom.run_line("iozone -a -n 64k -g 256k -i 0").expect_code(0);
    }
    let ids: Vec<String> = runs(&fathom).iter().map(|r| r["id"].as_str().expect("an id").into()).collect();
    for ending in ["html", "md"] {
        let one = format!("one.{ending}");
        let two = format!("two.{ending}");
        let _ = fathom.run(["report", &ids[0], "-o", &one]).expect_code(0);
        let _ = fathom.run(["report", &ids[0], &ids[1], "-o", &two]).expect_code(0);
        let read = |name: &str| std::fs::read_to_string(fathom.work().join(name)).expect("written");
        assert!(read(&two).to_lowercase().contains("ratio"), "{two}");
        assert!(ids.iter().all(|id| read(&two).contains(id.as_str())), "both are named");
        assert!(!read(&one).to_lowercase().contains("second over first"), "{one} has nothing to divide by");
    }
}

#[test]
fn the_csv_is_a_table_that_python_reads() {
    let fathom = Fathom::new();
    let _ = measure(&fathom, "commas, \"quotes\" and a\\nbreak");
    let _ = fathom.run_line("iozone -a -g 64k").expect_code(0);
    let ids: Vec<String> = runs(&fathom).iter().map(|r| r["id"].as_str().expect("an id").into()).collect();
    let _ = fathom.run(["report", &ids[0], &ids[1], "-o", "out.csv"]).expect_code(0);
    let Some(python) = find_tool("python3") else {
        fathom_testkit::skip(
            "the_csv_is_a_table_that_python_reads",
            "needs the program python3, which is not installed",
        );
        return;
    };
    let script = "import csv,sys\nrows=list(csv.reader(open(sys.argv[1],newline='')))\n\
                  assert len({len(r) for r in rows})==1, 'ragged'\nassert len(set(rows[0]))==len(rows[0]), 'names'\n\
                  d=[dict(zip(rows[0],r)) for r in rows[1:]]\n\
                  assert {r['run_id'] for r in d}==set(sys.argv[2:]), 'runs'\n\
                  assert all(float(r['bytes_per_s'])>0 for r in d if r['op'] in ('read','write')), 'rates'\n\
                  print(len(d), d[0]['label'])";
    let mut command = Command::new(python);
    command.args(["-c", script]).arg(fathom.work().join("out.csv")).args(&ids);
    let out = command.output().expect("python3 starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("commas, \"quotes\""), "{said}");
}

#[test]
fn the_original_output_of_iozone_comes_back() {
    let fathom = Fathom::new();
    let first = fathom.run_line("iozone -a -n 64k -g 128k").expect_code(0).stdout;
    let again = fathom.run(["show", "--original"]).expect_code(0).stdout;
    let rows = |text: &str| -> Vec<String> {
        text.lines().filter(|l| l.trim_start().starts_with(char::is_numeric)).map(str::to_owned).collect()
    };
    assert_eq!(rows(&again), rows(&first));
    assert!(rows(&first).len() > 4);
    let _ = measure(&fathom, "native");
    let outcome = fathom.run(["show", "--original"]).expect_code(2);
    assert!(outcome.stderr.contains("--original prints runs of iozone"), "{}", outcome.stderr);
}

#[test]
fn two_programs_keep_their_runs_in_one_store_at_once() {
    let fathom = Fathom::new();
    let texts = ["a", "b"].map(|name| {
        let path = fathom.dir().path().join(format!("{name}.toml"));
        let dir = fathom.dir().subdir(name);
        std::fs::write(&path, Text::new(name).head("repetitions = 20").quick_write(&dir).toml())
            .expect("a workload");
        path
    });
    let started: Vec<_> = texts.iter().map(|t| fathom.spawn(["run".as_ref(), t.as_os_str()])).collect();
    for running in started {
        let outcome = running.finish().expect_code(0);
        assert!(outcome.stderr.contains("kept as run"), "{}", outcome.stderr);
    }
    assert_eq!(runs(&fathom).len(), 2);
}
