//! The help: every command has one, it names every option, and its examples run as printed.

use crate::measure::workloads::{Text, runs};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, TestDir};

/// Every command with its options, written down a second time: an option that is added, lost or renamed must be looked at here.
const COMMANDS: &[(&str, &[&str])] = &[
    ("", &["--store", "--no-store", "--observe", "--help", "--version"]),
    (
        "survey",
        &[
            "[DIR|DEVICE]",
            "--output",
            "--quick",
            "--thorough",
            "--seed",
            "--json",
            "--line",
            "--store",
            "--no-store",
        ],
    ),
    ("run", &["<FILE>", "--plan", "--cold", "--output", "--json", "--allow-write", "--store", "--no-store"]),
    (
        "sweep",
        &[
            "--vary",
            "--rounds",
            "--seed",
            "--budget",
            "--figure",
            "--cold",
            "--settle",
            "--on",
            "--image-in",
            "--image-size",
            "--plan",
            "--output",
            "--json",
            "Settings:",
            "--store",
            "--no-store",
        ],
    ),
    (
        "compare",
        &[
            "[SIDE]...",
            "--a",
            "--b",
            "--sweep",
            "--of",
            "--by",
            "--base",
            "--threshold",
            "--metric",
            "--gate",
            "--junit",
            "--github",
            "--output",
            "--force",
            "--json",
            "--run",
            "--vary",
            "--in",
            "--figure",
            "--effect",
            "--stop",
            "--half-width",
            "--max-quads",
            "--budget",
            "--warm-up",
            "--calibrate",
            "--seed",
            "--settle",
            "--on",
            "--image-in",
            "--image-size",
            "--cold",
            "--plan",
            "--and",
            "Examples:",
            "Exit code:",
            "--store",
            "--no-store",
        ],
    ),
    (
        "history",
        &[
            "[WORKLOAD]",
            "--figure",
            "--cell",
            "--label",
            "--last",
            "--since",
            "--min-segment",
            "--seed",
            "--permutations",
            "--threshold",
            "--pelt",
            "--gate",
            "--output",
            "--force",
            "--json",
            "Examples:",
            "Exit code:",
            "--store",
        ],
    ),
    (
        "import",
        &[
            "<FILE>...",
            "--label",
            "--as",
            "--columns",
            "--dry-run",
            "--verbose",
            "Examples:",
            "Exit code:",
            "--store",
        ],
    ),
    ("report", &["<RUN>...", "--output", "--force", "--store"]),
    ("list", &["--limit", "--json", "--store"]),
    ("show", &["[RUN]...", "--json", "--original", "--block", "--stacks", "--store"]),
    ("why", &["[RUN|PATH]", "--phase", "--json", "--store"]),
    ("export", &["[RUN]...", "--format", "json", "csv", "--store"]),
    ("rm", &["<RUN>...", "--json", "--store"]),
    ("doctor", &["[PATH]", "--json", "--all", "Severities:", "Exit code:", "fathom backends"]),
    ("power-cut", &["write", "check", "ssh victim"]),
    (
        "power-cut write",
        &[
            "<DIR>",
            "--pattern",
            "--sync",
            "--every",
            "--block",
            "--size",
            "--files",
            "--direct",
            "--time",
            "--seed",
        ],
    ),
    ("power-cut check", &["<JOURNAL>", "--dir", "--remove", "--json", "Exit code:"]),
    ("watch", &["[PATH|DEVICE]", "--interval", "--count", "--json", "--queue", "--plain", "--counters"]),
    ("trace", &["record", "summary", "export"]),
    ("trace record", &["<PATH|DEVICE>", "[COMMAND]...", "--output", "--force", "--full", "--seconds"]),
    ("trace summary", &["<FILE>...", "--from", "--device", "--json"]),
    ("trace export", &["<FILE>...", "--from", "--format", "--output", "--force"]),
    ("iso", &["ls", "stat", "cat", "check", "extract", "compare", "Examples:", "Exit code:"]),
    (
        "iso ls",
        &[
            "<IMAGE>",
            "[PATH]",
            "--long",
            "--recursive",
            "--session",
            "--namespace",
            "--strict",
            "--associated",
            "--boot",
            "--zisofs-by-magic",
            "--direct",
            "--backend",
        ],
    ),
    ("iso stat", &["<IMAGE>", "[PATH]", "--json", "--session", "--backend"]),
    ("iso cat", &["<IMAGE>", "<PATHS>...", "--counters", "--session", "--policy", "--scheduler"]),
    ("iso check", &["<IMAGE>", "--json", "--session", "--backend"]),
    ("iso extract", &["<IMAGE>", "<INTO>", "--from", "--counters", "--session", "--policy"]),
    (
        "iso compare",
        &[
            "<IMAGE>",
            "--policies",
            "--loads",
            "--rounds",
            "--record",
            "--amount",
            "--iops",
            "--no-loop",
            "--json",
            "--session",
            "--backend",
            "Examples:",
            "Exit code:",
        ],
    ),
    (
        "mount",
        &[
            "<IMAGE>",
            "<ON>",
            "--daemon",
            "--allow-other",
            "--workers",
            "--counters",
            "--session",
            "--namespace",
            "--strict",
            "--associated",
            "--boot",
            "--zisofs-by-magic",
            "--direct",
            "--backend",
            "--policy",
            "--scheduler",
            "--read-ahead",
            "--chunk",
            "--coalesce",
            "--max-transfer",
            "--per-open",
            "--free-behind",
            "--isolate",
            "--cache-size",
            "--cache-idle",
            "--attach",
            "--promote",
            "--drop-ahead",
            "--bridge",
            "--small-files",
            "--dir-order",
            "--metadata",
            "--depth",
            "--helpers",
            "Examples:",
            "Exit code:",
        ],
    ),
    ("sim", &["run", "sweep", "replay", "agree", "calibrate", "profiles", "--store"]),
    (
        "sim run",
        &[
            "[FILE]",
            "--host",
            "--device",
            "--scheduler",
            "--readahead",
            "--limits",
            "--set",
            "--stack",
            "--seed",
            "--output",
            "--json",
            "Examples:",
            "--store",
            "--no-store",
        ],
    ),
    (
        "sim sweep",
        &[
            "--vary",
            "--rounds",
            "--jobs",
            "--figure",
            "--replay",
            "--from",
            "--traced",
            "--mode",
            "--scale",
            "--depth",
            "--host",
            "--device",
            "--scheduler",
            "--readahead",
            "--limits",
            "--set",
            "--stack",
            "--seed",
            "--output",
            "--json",
            "Examples:",
            "--store",
            "--no-store",
        ],
    ),
    (
        "sim replay",
        &[
            "[FILE]...",
            "--from",
            "--traced",
            "--synthetic",
            "--seed",
            "--host",
            "--device",
            "--scheduler",
            "--limits",
            "--set",
            "--mode",
            "--scale",
            "--depth",
            "--log",
            "--log-format",
            "--force",
            "--json",
            "Examples:",
            "--store",
            "--no-store",
        ],
    ),
    (
        "sim agree",
        &[
            "<FILE>...",
            "--from",
            "--traced",
            "--scheduler",
            "--limits",
            "--places",
            "--at-least",
            "--show",
            "--json",
            "Examples:",
            "Exit code:",
            "--store",
        ],
    ),
    (
        "sim calibrate",
        &[
            "[FILE]...",
            "--from",
            "--record",
            "--output",
            "--force",
            "--kind",
            "--like",
            "--traced",
            "--at-most",
            "--page",
            "--json",
            "Examples:",
            "Exit code:",
            "--store",
        ],
    ),
    ("sim profiles", &["--store"]),
    ("reproduce", &["<TABLE>", "--seeds", "--ablation", "--output", "--json", "Examples:", "Exit code:"]),
    ("backends", &["[DIR]", "--json", "States:"]),
    ("completions", &["<SHELL>", "bash", "zsh", "fish", "Examples:"]),
];

fn help(fathom: &Fathom, command: &str) -> String {
    let mut args: Vec<&str> = command.split_whitespace().collect();
    args.push("--help");
    let outcome = fathom.run(args).expect_code(0);
    assert_eq!(outcome.stderr, "", "help is what was asked for: it goes to stdout");
    outcome.stdout
}

#[test]
fn every_command_has_help_that_names_its_options() {
    let fathom = Fathom::new();
    for (command, options) in COMMANDS {
        let text = help(&fathom, command);
        for option in *options {
            assert!(text.contains(option), "{option} is missing in `fathom {command} --help`:\n{text}");
        }
        let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 100).collect();
        assert_eq!(wide, [""; 0], "in `fathom {command} --help`");
    }
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

#[test]
fn no_option_is_without_a_line_of_its_own() {
    let fathom = Fathom::new();
    let known: Vec<&str> = COMMANDS.iter().flat_map(|(_, options)| *options).copied().collect();
    for (command, _) in COMMANDS {
        let text = help(&fathom, command);
        let (_, options) = text.split_once("\nOptions:\n").expect("a list of options");
        let options = options.split("\n\nExamples:").next().unwrap_or(options);
        let names = options.split_whitespace().filter(|w| w.starts_with("--"));
        for name in names {
            // A value that may be left out stands with its equals sign: --cold[=<REACH>].
            let name = name.trim_end_matches([',', '`', '.', ')']).split('[').next().unwrap_or(name);
            assert!(
                known.contains(&name),
                "`fathom {command} --help` has {name}, which this test does not know"
            );
        }
    }
}

#[test]
fn iozones_help_is_iozones() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["iozone", "-h"]).expect_code(0);
    assert!(outcome.stdout.starts_with("iozone: help mode"), "{}", outcome.stdout);
}

#[test]
fn commands_of_the_main_help_are_all_tested_here() {
    let text = help(&Fathom::new(), "");
    let (_, commands) = text.split_once("\nCommands:\n").expect("a list of commands");
    let (commands, _) = commands.split_once("\n\n").expect("that ends");
    let names = commands
        .lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next());
    for name in names.filter(|n| !["help", "iozone", "sysbench", "filebench", "fio"].contains(n)) {
        assert!(COMMANDS.iter().any(|(command, _)| *command == name), "{name} is not in this test's list");
    }
}

/// The command lines under "Examples:", without the words that explain them.
fn examples(text: &str) -> Vec<String> {
    let (_, examples) = text.split_once("\nExamples:\n").expect("the main help has examples");
    let lines = examples.lines().take_while(|l| l.starts_with("  fathom "));
    let commands: Vec<String> =
        lines.map(|l| l.trim().split("   ").next().unwrap_or_default().to_owned()).collect();
    assert!(commands.len() >= 5, "{commands:?}");
    commands
}

/// The same command at a size for tests: the words stay, the amount of work shrinks.
fn lighter(example: &str, data: &TestDir) -> Vec<String> {
    let words = example.split_whitespace().skip(1).map(|word| match word {
        "1g" => "128k".to_owned(),
        "/mnt/data" => data.path().to_str().expect("UTF-8").to_owned(),
        word => word.to_owned(),
    });
    let mut words: Vec<String> = words.collect();
    match words[0].as_str() {
        "sweep" => drop(words.splice(1..1, ["--rounds", "1"].map(String::from))),
        "survey" => words.push("--quick".into()),
        "sysbench" => words.extend(["--file-total-size=2m", "--file-num=2", "--time=1"].map(String::from)),
        _ => {}
    }
    words
}

#[test]
fn the_examples_run_as_printed() {
    let fathom = Fathom::new();
    let data = TestDir::new();
    let text = Text::new("a workload of your own").quick_write(std::path::Path::new("")).toml();
    std::fs::write(fathom.work().join("workload.toml"), text).expect("a workload of the user");
    let script = "define fileset name=fs,path=scratch,entries=5,dirwidth=5,size=8k,prealloc\n\
        define process name=p { thread name=t { flowop read name=r,filesetname=fs,iosize=4k,random } }\nrun 1\n";
    std::fs::write(fathom.work().join("varmail.f"), script).expect("a script of the user");
    std::fs::write(fathom.work().join("job.fio"), "[reads]\nrw=randread\nsize=1m\n")
        .expect("a job of the user");
    let mail = "Hello,\n\n1024+0 records in\n1024+0 records out\n1048576 bytes copied, 0.5 s, 2.1 MB/s\n";
    std::fs::write(fathom.work().join("mail.txt"), mail).expect("a mail of the user");
    for example in examples(&help(&fathom, "")) {
        let words = lighter(&example, &data);
        if words[0] == "sysbench" {
            // Its files are the user's to prepare.
            let prepare = words.iter().map(|w| if w == "run" { "prepare" } else { w });
            let _ = fathom.run(prepare).expect_code(0);
        }
        // What the doctor finds is the machine's affair: 1 says that something would spoil a measurement here.
        if words[0] == "doctor" {
            let outcome = fathom.run(words);
            assert!(matches!(outcome.code, Some(0 | 1)), "{outcome:?}");
            continue;
        }
        let _ = fathom.run(words).expect_code(0);
    }
    for file in ["data.html", "out.wks", "run.html"] {
        assert!(names_in(fathom.work()).contains(&file.to_owned()), "{file}: {:?}", names_in(fathom.work()));
    }
    assert_eq!(
        runs(&fathom).len(),
        9,
        "two surveys, an iozone, a sysbench, a filebench, a workload, two of a sweep, an import"
    );
    assert_eq!(data.names(), [""; 0]);
}

#[test]
fn every_example_workload_is_accepted() {
    let fathom = Fathom::new();
    let examples = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    let names: Vec<String> = names_in(examples).into_iter().filter(|n| n.ends_with(".toml")).collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let _ =
            fathom.run(["run".as_ref(), examples.join(&name).as_os_str(), "--plan".as_ref()]).expect_code(0);
    }
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

#[test]
fn every_command_has_a_manual_page() {
    let fathom = Fathom::new();
    let dir = TestDir::new();
    fathom.run(["man-pages", dir.path().to_str().expect("UTF-8")]).expect_code(0);
    for (command, _) in COMMANDS {
        let name = if command.is_empty() {
            "fathom".into()
        } else {
            format!("fathom-{}", command.replace(' ', "-"))
        };
        let page = std::fs::read_to_string(dir.path().join(format!("{name}.1"))).expect(&name);
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    }
    let wrong = fathom.run(["man-pages", "nowhere"]).expect_code(2);
    assert!(wrong.stderr.contains("nowhere is not a directory"), "{}", wrong.stderr);
}

#[test]
fn shells_complete_commands_and_options() {
    let fathom = Fathom::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = fathom.run(["completions", shell]).expect_code(0).stdout;
        assert!(script.contains("survey") && script.contains("scheduler"), "{shell}");
    }
}

#[test]
fn our_options_end_before_the_words_of_a_drop_in() {
    let fathom = Fathom::new();
    let plain = fathom.run(["sysbench", "fileio", "help"]).expect_code(0).stdout;
    for words in [&["sysbench", "--", "fileio", "help"][..], &["--no-store", "sysbench", "fileio", "help"]] {
        assert_eq!(fathom.run(words).expect_code(0).stdout, plain, "{words:?}");
    }
    let text = fathom.run(["iozone", "--", "-h"]).expect_code(0).stdout;
    assert_eq!(text, fathom.run(["iozone", "-h"]).expect_code(0).stdout);
    assert_eq!(names_in(fathom.work()), [""; 0], "nothing is measured");
}
