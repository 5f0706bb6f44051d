//! `fathom run`: workloads good and bad, where they come from, what is printed and written.

use crate::measure::workloads::{Text, last_run, lines_with, phase_names, runs};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Outcome, find_tool};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

fn two_phases() -> Text {
    Text::new("two phases").quick_write(Path::new("")).phase(
        "read back",
        "first",
        "read",
        "axes = { file = \"1MiB\", record = \"64KiB\" }",
        "record = { fixed = \"64KiB\" }",
    )
}

fn run_text(fathom: &Fathom, text: &str, more: &[&str]) -> Outcome {
    let path = fathom.dir().path().join("w.toml");
    std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut args = vec!["run", path.to_str().expect("UTF-8")];
    args.extend(more);
    fathom.run(args)
}

#[test]
fn a_workload_is_run_printed_and_kept() {
    let fathom = Fathom::new();
    let outcome = run_text(&fathom, &two_phases().toml(), &[]).expect_code(0);
    let outcome = outcome.expect_stdout("two phases").expect_stdout("quick write").expect_stdout("read back");
    assert!(outcome.stdout.lines().all(|l| l.chars().count() <= 80), "{}", outcome.stdout);
    assert_eq!(lines_with(&outcome.stderr, "error:"), [""; 0]);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    let run = last_run(&fathom);
    assert_eq!(phase_names(&run), ["quick write", "read back"]);
    for phase in run["phases"].as_array().expect("phases") {
        let worker = &phase["repetitions"][0]["workers"][0];
        assert_eq!((&worker["bytes"], &worker["ops"]), (&(1 << 20).into(), &16.into()));
    }
}

#[test]
fn repetitions_and_seed_are_the_workloads() {
    let fathom = Fathom::new();
    let text = two_phases().head("repetitions = 3").head("seed = \"0x2a\"").toml();
    let _ = run_text(&fathom, &text, &[]).expect_code(0);
    let run = last_run(&fathom);
    assert_eq!(run["seed"], 42);
    for phase in run["phases"].as_array().expect("phases") {
        assert_eq!(phase["repetitions"].as_array().map(Vec::len), Some(3));
    }
}

#[test]
fn a_workload_comes_from_stdin() {
    let fathom = Fathom::new();
    let mut command = fathom.command(["run", "-", "--json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(two_phases().toml().as_bytes()).expect("it reads");
    drop(stdin);
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(0));
    let run: Value = serde_json::from_slice(&out.stdout).expect("JSON on stdout");
    assert_eq!(run["label"], "two phases");
}

#[test]
fn an_error_names_line_and_column() {
    let fathom = Fathom::new();
    let text = two_phases().toml().replace("direction = \"read\"", "direction = \"raed\"");
    let line = text.lines().position(|l| l.contains("raed")).expect("the error is there") + 1;
    let outcome = run_text(&fathom, &text, &[]).expect_code(2);
    let place = format!("w.toml:{line}:");
    assert!(outcome.stderr.contains(&place), "{place} is missing in {}", outcome.stderr);
    assert!(outcome.stderr.contains("raed"), "the line is shown: {}", outcome.stderr);
    assert!(outcome.stderr.lines().any(|l| l.trim() == "^"), "with a caret: {}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(!fathom.store().exists(), "nothing was measured");

    let outcome = run_text(&fathom, "name = \"w\"\nnoise = 1\n", &[]).expect_code(2);
    assert!(outcome.stderr.contains("w.toml:2:1") && outcome.stderr.contains("noise"), "{}", outcome.stderr);
}

#[test]
fn a_misspelt_key_is_told_with_the_one_that_was_meant() {
    let fathom = Fathom::new();
    let misspelt = |right: &str, wrong: &str| {
        let text = two_phases().toml();
        assert!(text.contains(right), "{text}");
        run_text(&fathom, &text.replacen(right, wrong, 1), &[]).expect_code(2).stderr
    };
    for (right, wrong, meant) in [
        ("[[phase]]", "[[phaes]]", "if it is a section in double brackets, one above it is misspelt"),
        ("[[fileset]]", "[[filset]]", "did you mean `fileset`?"),
        ("direction =", "direktion =", "did you mean `direction`?"),
        ("direction = \"read\"", "direction = \"raed\"", "did you mean `read`?"),
    ] {
        let said = misspelt(right, wrong);
        assert!(said.contains(meant), "{said}");
    }
}

#[test]
fn what_is_no_text_and_what_is_empty_is_told_as_that() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("image"), [0xff, 0, 1, 2]).expect("a file");
    std::fs::write(fathom.work().join("empty.toml"), "\n").expect("a file");
    for (file, words) in [
        ("image", "image is not text; a workload in TOML, a script of Filebench or a job file of fio"),
        ("empty.toml", "error: empty.toml is empty; a workload is expected"),
    ] {
        let outcome = fathom.run(["run", file]).expect_code(2).expect_stderr(words);
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    }
}

#[test]
fn nonsense_is_refused_with_every_reason() {
    let fathom = Fathom::new();
    let text = two_phases().toml().replace("fileset = \"first\"", "fileset = \"frist\"");
    let outcome = run_text(&fathom, &text, &[]).expect_code(2);
    assert!(outcome.stderr.contains("frist"), "{}", outcome.stderr);
    assert!(outcome.stderr.matches("w.toml: ").count() >= 2, "both phases: {}", outcome.stderr);
}

#[test]
fn a_flow_is_executed_and_what_it_cannot_do_refused_in_words() {
    let fathom = Fathom::new();
    let flow = "[[phase]]\nname = \"flow\"\nstop = { time = \"1s\" }\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
                [phase.group.thread.program.flow]\nloops = 1\n[[phase.group.thread.program.flow.op]]\nname = \"open\"\n\
                act = \"create\"\nfileset = \"first\"\n";
    let file = Text::new("flow").file("first", Path::new("first.dat"), "1MiB", "").toml();
    // A list of files has no leaf directories.
    let directories = flow.replace("act = \"create\"", "act = \"make-directory\"");
    let outcome = run_text(&fathom, &format!("{file}{directories}"), &[]).expect_code(2);
    assert!(
        outcome.stderr.contains("leaf directories") && outcome.stderr.contains("tree"),
        "{}",
        outcome.stderr
    );
    assert_eq!(names_in(fathom.work()), [""; 0]);

    let reads = flow.replace("act = \"create\"", "act = \"read\"\nsize = \"64KiB\"\nrepeat = 7");
    let reads = reads.replace("stop =", "before = [{ prepare = \"first\" }]\nstop =");
    let outcome = run_text(&fathom, &format!("{file}{reads}"), &["--json"]).expect_code(0);
    let record: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let rows = record.pointer("/phases/0/repetitions/0/workers/0/rows").expect("a row for each operation");
    // Seven reads and the open that the first of them needed.
    assert_eq!((rows[0]["name"].as_str(), rows[0]["ops"].as_u64()), (Some("open"), Some(8)));
    assert_eq!(rows[0]["bytes"].as_u64(), Some(7 << 16));
}

#[test]
fn a_missing_file_is_a_usage_error() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["run", "nowhere.toml"]).expect_code(2);
    assert!(outcome.stderr.contains("nowhere.toml"), "{}", outcome.stderr);
    let _ = fathom.run(["run"]).expect_code(2);
    let _ = fathom.run(["measure"]).expect_code(2);
    let _ = fathom.run(["run", "--fast", "x.toml"]).expect_code(2);
}

#[test]
fn a_plan_lists_what_would_be_made_and_changes_nothing() {
    let fathom = Fathom::new();
    let text = two_phases().file("kept", Path::new("kept.dat"), "1MiB", "keep = true").toml();
    let outcome = run_text(&fathom, &text, &["--plan"]).expect_code(0);
    let outcome = outcome
        .expect_stdout("file first.dat is made and removed")
        .expect_stdout("file kept.dat is made and kept");
    let _ = outcome.expect_stdout("phase 0: quick write, 1 worker\n").expect_stdout("phase 1: read back");
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert!(!fathom.store().exists() && !fathom.state_home().exists(), "no store, no journal");
    let broken = text.replace("direction = \"read\"", "direction = \"raed\"");
    let _ = run_text(&fathom, &broken, &["--plan"]).expect_code(2);
}

#[test]
fn a_plan_shows_the_commands_and_runs_none() {
    let fathom = Fathom::new();
    let touched = fathom.work().join("touched");
    let step = format!("before = [{{ command = [\"touch\", {touched:?}] }}]\n[[phase.group]]");
    let text = two_phases().toml().replacen("[[phase.group]]", &step, 1);
    let outcome = run_text(&fathom, &text, &["--plan"]).expect_code(0);
    let wanted = format!("  before: RUN THE COMMAND touch {}", touched.display());
    assert!(outcome.stdout.lines().any(|l| l == wanted), "{wanted}\n{}", outcome.stdout);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    let _ = run_text(&fathom, &text, &[]).expect_code(0);
    assert_eq!(names_in(fathom.work()), ["touched"], "the run does what the plan said");
}

#[test]
fn a_plan_of_billions_of_files_is_short() {
    let fathom = Fathom::new();
    let many = "files = { numbered = { prefix = \"x\", count = 4000000000 } }";
    let text = two_phases().toml().replace("files = { list = [\"first.dat\"] }", many);
    assert!(text.contains(many));
    let outcome = run_text(&fathom, &text, &["--plan"]).expect_code(0);
    assert!(outcome.stdout.contains("... and 3999999950 more"), "{}", outcome.stdout);
    assert!(outcome.stdout.lines().count() < 60, "{}", outcome.stdout);
}

#[test]
fn a_workload_without_phases_is_an_error() {
    let fathom = Fathom::new();
    for more in [&[][..], &["--plan"]] {
        let outcome = run_text(&fathom, "name = \"w\"\n", more).expect_code(2);
        assert!(outcome.stderr.contains("it has no phase"), "{}", outcome.stderr);
    }
}

#[test]
fn the_recorded_directory_is_absolute() {
    let fathom = Fathom::new();
    let _ = run_text(&fathom, &two_phases().toml(), &[]).expect_code(0);
    assert_eq!(last_run(&fathom)["directory"], fathom.work().to_str().expect("UTF-8"));
}

#[test]
fn json_has_the_documented_schema_and_stands_alone() {
    let fathom = Fathom::new();
    let outcome = run_text(&fathom, &two_phases().toml(), &["--json"]).expect_code(0);
    let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
    let documented = include_str!("../../../../docs/formats/record-json.md");
    let schema = run["schema"].as_str().expect("a schema");
    assert!(documented.contains(schema), "{schema} is not in docs/formats/record-json.md");
    for key in run.as_object().expect("an object").keys() {
        assert!(documented.contains(key.as_str()), "the field {key} is not in docs/formats/record-json.md");
    }
    assert_eq!(run, last_run(&fathom), "what is printed is what is kept");
}

#[test]
fn every_form_of_output_is_written() {
    let fathom = Fathom::new();
    for ending in ["html", "xlsx", "md", "svg", "json", "csv"] {
        let name = format!("out.{ending}");
        let outcome = run_text(&fathom, &two_phases().toml(), &["-o", &name]).expect_code(0);
        assert!(outcome.stderr.contains("wrote"), "{}", outcome.stderr);
        let bytes = std::fs::read(fathom.work().join(&name)).expect("written");
        assert!(
            looks_like(ending, &bytes),
            "{name} is no {ending}: {:?}",
            String::from_utf8_lossy(&bytes[..40])
        );
    }
    let beside: Vec<String> = names_in(fathom.work()).into_iter().filter(|n| n.ends_with("svg")).collect();
    assert_eq!(beside, ["out.svg"], "one picture and no other");
    let _ = fathom
        .run(["report", "last", "-o", "pictures/"])
        .expect_code(0)
        .expect_stderr("pictures/latency.svg");
    let all = names_in(&fathom.work().join("pictures"));
    // What reached a device has pictures, too, if anything did.
    assert!(all.contains(&"latency.svg".into()) && all.iter().all(|name| name.ends_with(".svg")), "{all:?}");
    let again = fathom.run(["report", "last", "-o", "pictures"]).expect_code(2);
    let _ = again.expect_stderr("--force overwrites it");
    let _ = fathom.run(["report", "last", "-o", "pictures", "--force"]).expect_code(0);
    let outcome = run_text(&fathom, &two_phases().toml(), &["-o", "out.pdf"]).expect_code(2);
    assert!(outcome.stderr.contains("out.pdf") && outcome.stderr.contains(".html"), "{}", outcome.stderr);
    let nowhere = run_text(&fathom, &two_phases().toml(), &["-o", "gone/out.html"]).expect_code(2);
    let _ = nowhere.expect_stderr("gone/out.html cannot be written: there is no directory gone");
    let full = fathom.run(["report", "last", "--full", "-o", "full.svg"]).expect_code(2);
    let _ = full.expect_stderr("--full belongs to a file that ends in .md");
    let _ = fathom.run(["report", "last", "--full", "-o", "full.md"]).expect_code(0);
    let lines =
        |name: &str| std::fs::read_to_string(fathom.work().join(name)).expect("written").lines().count();
    assert!(lines("out.md") <= 25 && lines("full.md") > lines("out.md"), "{}", lines("out.md"));
    assert_eq!(runs(&fathom).len(), 6, "what was wrong was said before anything was measured");
}

fn looks_like(ending: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match ending {
        "html" => text.to_lowercase().starts_with("<!doctype html>"),
        "xlsx" => bytes.starts_with(b"PK\x03\x04"),
        "md" => text.starts_with('#') && text.contains("quick write"),
        "svg" => text.contains("<svg") && text.trim_end().ends_with("</svg>"),
        "json" => serde_json::from_slice::<Value>(bytes).is_ok_and(|v| v["schema"] == "fathom-record/1"),
        _ => text.lines().count() > 2 && text.contains("read back"),
    }
}

#[test]
fn the_store_is_where_it_is_asked_to_be() {
    let fathom = Fathom::new();
    let other = fathom.dir().subdir("other").join("runs.db");
    let other = other.to_str().expect("UTF-8");
    let _ = run_text(&fathom, &two_phases().toml(), &["--store", other]).expect_code(0);
    let listed = fathom.run(["list", "--json", "--store", other]).expect_code(0);
    assert!(listed.stdout.contains("two phases"), "{}", listed.stdout);
    assert!(!fathom.store().exists(), "$FATHOM_STORE is not used beside it");
    let outcome = run_text(&fathom, &two_phases().toml(), &["--no-store"]).expect_code(0);
    assert!(!outcome.stderr.contains("kept as run"), "{}", outcome.stderr);
    assert!(!fathom.store().exists());
    let outcome = fathom.run(["list", "--no-store"]).expect_code(2);
    assert!(outcome.stderr.contains("--no-store belongs to"), "not parsed and ignored: {}", outcome.stderr);
}

#[test]
fn without_a_variable_the_store_is_in_the_data_directory() {
    let fathom = Fathom::new();
    let workload = two_phases().save(&fathom);
    let mut command = fathom.command(["run", workload.to_str().expect("UTF-8")]);
    let status = command.env_remove("FATHOM_STORE").stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("it ran").success());
    assert!(fathom.dir().path().join("data/fathom/fathom.db").exists());
}

#[test]
fn a_reader_that_goes_away_ends_nothing() {
    let fathom = Fathom::new();
    let Some(shell) = find_tool("sh") else { return };
    let workload = two_phases().save(&fathom);
    let prepared = fathom.command(["run"]);
    let mut command = Command::new(shell);
    command.arg("-c").arg("\"$0\" run \"$1\" --json | head -c 1 >/dev/null; exit ${PIPESTATUS:-0}");
    command.arg(prepared.get_program()).arg(workload).current_dir(fathom.work());
    command.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let out = command.output().expect("a shell");
    assert!(!String::from_utf8_lossy(&out.stderr).contains("panicked"), "{out:?}");
    assert_eq!(last_run(&fathom)["status"], "completed");
}
