//! Options, their errors and exit codes, the name of a link, stdin.

use crate::dropin_filebench::script::{READER, run_with, summary, write};
use fathom_testkit::Fathom;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn usage_is_the_originals_with_our_options_behind() {
    let fathom = Fathom::new().named("filebench");
    let help = fathom.run_line("-h").expect_code(0).stdout;
    assert!(help.starts_with("Usage: filebench {-f <wmlscript> | -h | -c [cvartype]}"), "{help}");
    assert!(
        help.contains("   -f <wmlscript> generate workload from the specified file\n")
            && help.contains("--replace PATH")
    );
    let none = fathom.run::<&str>([]).expect_code(1);
    assert!(
        none.stderr.starts_with("Usage error: No runtime options specified\n\nUsage: filebench"),
        "{}",
        none.stderr
    );
    let wrong = fathom.run_line("-x").expect_code(1);
    assert!(wrong.stderr.starts_with("Usage error: Unrecognized option\n\n"), "{}", wrong.stderr);
    let missing = fathom.run_line("-f nothing.f").expect_code(1);
    assert_eq!(
        (missing.stdout.as_str(), missing.stderr.as_str()),
        ("Filebench Version 1.5-alpha3\n", "Cannot open file nothing.f!\n")
    );
}

#[test]
fn custom_variables_are_listed_with_their_parameters() {
    let fathom = Fathom::new();
    let list = fathom.run_line("filebench -c").expect_code(0).stdout;
    assert!(list.starts_with("Custom variable types supported:\n  cvar-weibull\n"), "{list}");
    let gamma = fathom.run_line("filebench -c cvar-gamma").expect_code(0).stdout;
    assert!(gamma.contains("\tmean\t\t4096.0\n\tgamma\t\t1.5\n"), "{gamma}");
    fathom.run_line("filebench -c nope").expect_code(0).expect_stdout("Unknown custom variable type nope.");
}

#[test]
fn a_script_without_run_does_nothing_until_one_is_appended() {
    let fathom = Fathom::new();
    let text = format!("{READER}echo \"loaded\"\n");
    let outcome = run_with(&fathom, &text, "").expect_code(0);
    assert!(outcome.stdout.contains(": loaded\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.ends_with("Warning: no run command in the WML script!\n"), "{}", outcome.stdout);
    assert!(!fathom.work().join("fs").exists());
    let outcome = run_with(&fathom, &text, "--run 1").expect_code(0);
    assert!(summary(&outcome.stdout).is_some_and(|s| s[0] > 0.0), "{}", outcome.stdout);
}

#[test]
fn variables_are_set_from_the_command_line() {
    let fathom = Fathom::new();
    let text =
        format!("set $time=60\nset $size=4k\n{}run $time\n", READER.replace("iosize=4k", "iosize=$size"));
    let outcome = run_with(&fathom, &text, "--set time=1 --set size=8k").expect_code(0);
    assert!(outcome.stdout.contains("Run took 1 seconds..."), "{}", outcome.stdout);
    let [ops, _, reads, _, megabytes, _] = summary(&outcome.stdout).unwrap();
    assert!(ops > 0.0 && (megabytes / reads * 1024.0 - 8.0).abs() < 0.2, "{}", outcome.stdout);
    let wrong = run_with(&fathom, &text, "--set tiem=1").expect_code(2);
    assert!(wrong.stderr.contains("no variable $tiem") && wrong.stderr.contains("$time"), "{}", wrong.stderr);
}

#[test]
fn check_prints_a_workload_that_runs() {
    let fathom = Fathom::new();
    let outcome = run_with(&fathom, &format!("{READER}run 1\n"), "--check").expect_code(0);
    assert!(!fathom.work().join("fs").exists(), "nothing is made");
    std::fs::write(fathom.work().join("compiled.toml"), &outcome.stdout).unwrap();
    let ran = fathom.run_line("run compiled.toml --json").expect_code(0);
    let run: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(run["phases"][0]["repetitions"][0]["workers"][0]["rows"][0]["name"], "rd");
}

#[test]
fn fathom_run_takes_scripts_too() {
    let fathom = Fathom::new();
    write(&fathom, "mail.f", &format!("{READER}run 1\n"));
    let outcome = fathom.run_line("run mail.f").expect_code(0);
    assert!(!outcome.stdout.contains("IO Summary") && outcome.stdout.contains("mail"), "{}", outcome.stdout);
    write(&fathom, "idle.f", READER);
    fathom.run_line("run idle.f").expect_code(2).expect_stderr("has no run command");
    let plan = fathom.run_line("run mail.f --plan").expect_code(0);
    assert!(plan.stdout.contains("act = \"read\""), "{}", plan.stdout);
}

#[test]
fn the_older_program_reads_stdin() {
    let fathom = Fathom::new();
    write(&fathom, "inner.f", READER);
    let mut child = fathom
        .command(["filebench", "--wml", "1.4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"load inner\nrun 1\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && summary(&stdout).is_some(),
        "{stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fathom.run_line("filebench --check").expect_code(1).expect_stderr("no script");
}
