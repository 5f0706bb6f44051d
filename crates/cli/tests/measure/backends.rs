//! `fathom backends`, and the calls and errors of workloads that use a back-end's special features.

use crate::measure::workloads::Text;
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Trace};
use serde_json::Value;

/// The back-ends, in the order in which they are printed.
const BACKENDS: [&str; 7] = ["psync", "pvsync2", "stdio", "mmap", "aio", "uring", "nvme"];

#[test]
fn the_table_has_a_block_a_backend_and_three_columns() {
    let fathom = Fathom::new();
    let text = fathom.run(["backends"]).expect_code(0).stdout;
    let heads: Vec<&str> = text.lines().filter(|l| !l.is_empty() && !l.starts_with(' ')).collect();
    assert_eq!(heads, BACKENDS, "{text}");
    let mut columns = Vec::new();
    for line in text.lines().filter(|l| l.starts_with("  ") && !l.starts_with("   ")) {
        let words: Vec<&str> = line.trim_start().split("  ").filter(|w| !w.is_empty()).collect();
        let [feature, state, sentence] = words[..] else { panic!("not three columns: {line:?}\n{text}") };
        let state = state.trim();
        assert!(["works", "lacks", "unknown"].contains(&state), "{line:?}");
        assert!(!feature.is_empty() && !sentence.is_empty());
        columns.push(line.find(&format!("  {state}  ")).or_else(|| line.find(&format!("  {state} "))));
    }
    assert!(columns.len() > 20 && columns.windows(2).all(|w| w[0] == w[1]), "{columns:?}\n{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 80 && l.trim_end() == l), "{text}");
    assert_eq!(names_in(fathom.work()), [""; 0], "nothing stays");
    assert!(!fathom.store().exists(), "nothing is stored");
}

#[test]
fn the_json_says_the_same_as_the_table() {
    let fathom = Fathom::new();
    let json = fathom.run(["backends", "--json"]).expect_code(0).stdout;
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    let table = fathom.run(["backends"]).expect_code(0).stdout;
    let table_words: Vec<&str> = table.split_whitespace().collect();
    for row in &rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["backend", "feature", "sentence", "state"], "{row}");
        assert!(BACKENDS.contains(&row["backend"].as_str().unwrap()), "{row}");
        // How many aio operations others have taken changes from one run to the next.
        if row["backend"] != "aio" {
            let words: Vec<&str> = row["sentence"].as_str().unwrap().split_whitespace().collect();
            assert!(table_words.windows(words.len()).any(|w| w == words), "{row}\n{table}");
        }
    }
    let plain = rows.iter().find(|r| r["feature"] == "pread, pwrite").expect("the plainest of all");
    assert_eq!(plain["state"], "works");
}

#[test]
fn a_directory_that_is_none_is_an_error_of_the_user() {
    let outcome = Fathom::new().run(["backends", "nowhere"]).expect_code(2);
    assert!(outcome.stderr.contains("nowhere is not a directory"), "{}", outcome.stderr);
}

/// Ten records of 8 KiB written by one back-end, traced.
fn traced(test: &str, fathom: &Fathom, backend: &str) -> Option<Trace> {
    let text = Text::new("traced")
        .file("d", "d.dat".as_ref(), "80KiB", "")
        .phase("write", "d", "write", "", &format!("record = {{ fixed = \"8KiB\" }}\nbackend = {backend}"))
        .toml();
    std::fs::write(fathom.work().join("w.toml"), text).unwrap();
    let trace = fathom.strace(test, ["run", "w.toml", "--no-store"])?;
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    Some(trace)
}

#[test]
fn the_flags_of_pvsync2_reach_the_kernel_with_every_write() {
    let name = "the_flags_of_pvsync2_reach_the_kernel_with_every_write";
    for (options, flags) in [
        ("{ pvsync2 = {} }", "0"),
        ("{ pvsync2 = { dsync = true } }", "RWF_DSYNC"),
        ("{ pvsync2 = { dsync = true, sync = true } }", "RWF_DSYNC|RWF_SYNC"),
    ] {
        let fathom = Fathom::new();
        let Some(trace) = traced(name, &fathom, options) else { return };
        let file = fathom.work().join("d.dat");
        let writes: Vec<_> = trace.on_file(&file).into_iter().filter(|c| c.name == "pwritev2").collect();
        assert_eq!(writes.len(), 10, "{options}");
        for write in writes {
            assert!(write.args.trim_end().ends_with(&format!(", {flags}")), "{options}: {}", write.args);
            assert_eq!(write.ret, Some(8192));
        }
    }
}

/// (length, flags) of the msync calls of a run.
fn flushes(trace: &Trace) -> Vec<(u64, String)> {
    let calls = trace.calls.iter().filter(|c| c.name == "msync");
    calls
        .map(|c| {
            let arguments = c.arguments();
            (arguments[1].parse().unwrap(), arguments[2].to_owned())
        })
        .collect()
}

#[test]
fn a_mapped_file_is_flushed_after_so_many_records_and_at_the_end() {
    let name = "a_mapped_file_is_flushed_after_so_many_records_and_at_the_end";
    let sync = |lengths: &[u64]| lengths.iter().map(|&n| (n, "MS_SYNC".to_owned())).collect::<Vec<_>>();
    for (options, expected) in [
        ("{ mmap = {} }", sync(&[])),
        ("{ mmap = { flush = \"sync\" } }", sync(&[8192; 10])),
        // Only what three records wrote, and the tenth when the file is closed.
        ("{ mmap = { flush = \"sync\", flush_every = 3 } }", sync(&[24576, 24576, 24576, 8192])),
    ] {
        let fathom = Fathom::new();
        let Some(trace) = traced(name, &fathom, options) else { return };
        assert_eq!(flushes(&trace), expected, "{options}");
    }
}

#[test]
fn populating_is_asked_of_the_kernel_while_mapping() {
    let name = "populating_is_asked_of_the_kernel_while_mapping";
    for populate in [false, true] {
        let fathom = Fathom::new();
        let backend = format!("{{ mmap = {{ populate = {populate}, advice = 23 }} }}");
        let Some(trace) = traced(name, &fathom, &backend) else { return };
        let maps: Vec<_> =
            trace.on_file(&fathom.work().join("d.dat")).into_iter().filter(|c| c.name == "mmap").collect();
        assert_eq!(maps.len(), 1, "{maps:?}");
        assert_eq!(maps[0].args.contains("MAP_POPULATE"), populate, "{}", maps[0].args);
        // An older strace knows this advice by its number only.
        let advised = |c: &&fathom_testkit::Syscall| {
            c.name == "madvise"
                && c.arguments()[1] == "81920"
                && ["MADV_POPULATE_WRITE", "0x17"].iter().any(|n| c.arguments()[2].starts_with(n))
        };
        assert_eq!(trace.calls.iter().filter(advised).count(), 1);
    }
}

/// On namespaces they are tested in the lab (xtask/src/lab/guest/commands.sh).
#[test]
fn nvme_commands_are_for_namespaces() {
    let fathom = Fathom::new();
    let text = |open: &str| {
        let rest = format!("record = {{ fixed = \"8KiB\" }}\nbackend = {{ nvme = {{}} }}\n{open}");
        Text::new("refused")
            .file("d", "d.dat".as_ref(), "80KiB", "")
            .phase("read", "d", "read", "", &rest)
            .toml()
    };
    for (open, words) in [
        ("", "NVMe commands bypass the page cache; say so with open = { direct = true }"),
        ("open = { direct = true }", "d.dat: No such file or directory"),
        ("open = { direct = true, sync = \"dsync\" }", "neither open.sync nor atomic"),
    ] {
        std::fs::write(fathom.work().join("w.toml"), text(open)).unwrap();
        let outcome = fathom.run(["run", "w.toml"]).expect_code(2);
        assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
        assert_eq!(names_in(fathom.work()), ["w.toml"]);
    }
    std::fs::write(fathom.work().join("d.dat"), vec![1; 80 << 10]).unwrap();
    let line = "fio --name=a --filename=d.dat --ioengine=io_uring_cmd --cmd_type=nvme --rw=read --bs=8k";
    let outcome = fathom.run(line.split(' ')).expect_code(1);
    assert!(outcome.stderr.contains("d.dat is not an NVMe namespace"), "{}", outcome.stderr);
}

#[test]
fn a_workload_that_asks_for_what_is_lacking_is_refused_before_anything_is_made() {
    let fathom = Fathom::new();
    let text = Text::new("refused")
        .file("d", "d.dat".as_ref(), "80KiB", "")
        .phase(
            "write",
            "d",
            "write",
            "",
            "record = { fixed = \"8KiB\" }\nbackend = { mmap = { flush = \"sync\", advice = 9 } }",
        )
        .toml();
    std::fs::write(fathom.work().join("w.toml"), text).unwrap();
    for args in [&["run", "w.toml"][..], &["run", "w.toml", "--plan"]] {
        let outcome = fathom.run(args).expect_code(2);
        assert!(outcome.stderr.contains("advice 9 is not supported"), "{}", outcome.stderr);
        assert_eq!(names_in(fathom.work()), ["w.toml"]);
    }
}

/// Runs with at most 64 KiB of locked memory, and without the capability to ignore that limit.
fn with_little_locked_memory(fathom: &Fathom, text: &str) -> std::process::Output {
    let path = fathom.dir().path().join("w.toml");
    std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let run = fathom.command(["run".as_ref(), path.as_os_str()]);
    let limited =
        "ulimit -l 64; [ $(id -u) != 0 ] || exec setpriv --bounding-set -ipc_lock \"$@\"; exec \"$@\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited, "sh"]).arg(run.get_program()).args(run.get_args());
    command.current_dir(fathom.work()).stdin(std::process::Stdio::null());
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.output().expect("sh starts")
}

#[test]
fn buffers_beyond_the_limit_of_locked_memory_are_registered_only_on_demand() {
    let fathom = Fathom::new();
    if fathom_testkit::find_tool("setpriv").is_none() {
        return fathom_testkit::skip("buffers_beyond_the_limit", "no setpriv (util-linux)");
    }
    let text = |registered: &str| {
        let stream = format!(
            "record = {{ fixed = \"64KiB\" }}\nqueue_depth = 4\nopen = {{ create = true }}\nbackend = {{ uring = {{ {registered} }} }}"
        );
        let file = std::path::Path::new("a.dat");
        Text::new("limited").file("set", file, "1MiB", "").phase("write", "set", "write", "", &stream).toml()
    };
    let unset = with_little_locked_memory(&fathom, &text(""));
    let said = String::from_utf8_lossy(&unset.stderr).into_owned();
    if said.contains("no io_uring") || said.contains("io_uring is") {
        return fathom_testkit::skip("buffers_beyond_the_limit", "no io_uring here");
    }
    assert_eq!(unset.status.code(), Some(0), "{said}");
    let wanted = with_little_locked_memory(&fathom, &text("registered_buffers = true"));
    let said = String::from_utf8_lossy(&wanted.stderr).into_owned();
    assert!(wanted.status.code() != Some(0) && said.contains("ulimit -l"), "{said}");
}
