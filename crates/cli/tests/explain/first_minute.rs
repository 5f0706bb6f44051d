//! What a survey, a run and the drop-ins said wrongly in a new user's first minute, each with the test that keeps it from coming back:
//!
//! * a control group's limit taken for the kernel's path: `a_limit_that_the_rate_stands_at_is_the_cause_and_the_only_one` (observe),
//!   `a_limit_of_a_control_group_comes_first_though_it_held_few_phases` (report);
//! * a loop device's cached image taken for a disk: here, and `direct_io_on_a_loop_device_whose_image_is_cached_is_the_page_caches`;
//! * two answers to how much others moved, or a share above 100 %: `one_answer_is_given_everywhere` (observe, foreign);
//! * other programs' requests taken for ours: `foreign_requests_are_not_counted_as_ours` (observe, findings);
//! * "the device's own" faster than the device: `a_neighbours_writes_do_not_make_rewrites_in_memory_the_devices`, and written.rs (observe);
//! * two kinds of rate in one column: `rates_with_and_without_their_fsync_are_marked` (report, terminal);
//! * medians over a grid: `the_figure_to_quote_is_the_largest_files_whatever_the_grid` (report, regimes);
//! * a cached phase that was not, on FUSE, and an overlay whose device is hidden: here;
//! * steal told from one tick: `steal_and_pressure_are_shares` (observe, counters);
//! * a full disk surveyed without a word: here, and `what_a_survey_could_not_see_or_had_no_room_for_is_said_first` (report);
//! * one depth only: `it_ends_when_more_bring_nothing` (cli, survey/depth.rs);
//! * each survey a separate history: `surveys_of_one_directory_and_length_are_one_history` (cli, history/identity.rs).

use crate::measure::workloads::{Text, last_run};
use fathom_testkit::{Fathom, FaultFs, LoopFs, TestDir, skip};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Reads of a file that was just read to warm it, and with O_DIRECT.
fn reads(dir: &Path) -> Text {
    let before = "before = [{ prepare = \"data\" }, { warm = \"data\" }]";
    let record = "record = { fixed = \"64KiB\" }";
    Text::new("reads")
        .file("data", &dir.join("data"), "4MiB", "existing = \"reuse\"")
        .phase("cached read", "data", "read", before, record)
        .phase("direct read", "data", "read", "", &format!("{record}\nopen = {{ direct = true }}"))
}

fn run(fathom: &Fathom, text: &Text) -> Value {
    let workload = text.save(fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
    last_run(fathom)
}

fn sentence<'r>(run: &'r Value, list: &str, code: &str) -> Option<&'r str> {
    let found = run[list].as_array().expect("a list").iter().find(|d| d["code"] == code)?;
    found["sentence"].as_str()
}

#[test]
fn a_file_system_that_caches_nothing_has_no_warm_files() {
    let Some(fs) = FaultFs::mount("a_file_system_that_caches_nothing_has_no_warm_files") else { return };
    let fathom = Fathom::new();
    let run = run(&fathom, &reads(fs.path()));
    assert_eq!(run["phases"][0]["repetitions"][0]["cache"], "warm");
    let check = sentence(&run, "trust", "cache").expect("a check");
    assert!(check.contains("cached read: not warm: 0.0 % cached before"), "{check}");
    let doubt = sentence(&run, "doubts", "not-warm").expect("a doubt");
    assert!(doubt.contains("only 0.0 % of the files were cached"), "{doubt}");
    assert!(
        doubt.contains("as on a FUSE file system with direct_io") && !doubt.contains("free memory"),
        "{doubt}"
    );
    if run["phases"][0]["repetitions"][0]["physical"]["method"] == "none" {
        // The kernel does not show which process serves the files.
        return unknown_and_no_more(&fathom, &run);
    }
    assert_eq!(sentence(&run, "doubts", "no-counters"), None);
    let shown = fathom.run(["show"]).expect_code(0).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("2 of 2 came from memory, not from the disk"), "{shown}");
    assert!(flat.contains("'s storage") && !flat.contains("page-cache number"), "{shown}");
    assert!(!flat.contains("or O_DIRECT"), "{shown}");
}

/// If the source of the data is unknown, it is not called a cache, and O_DIRECT is not recommended beside a phase that
/// has it.
fn unknown_and_no_more(fathom: &Fathom, run: &Value) {
    let doubt = sentence(run, "doubts", "no-counters").expect("a doubt");
    assert!(doubt.contains("is not known whether") && !doubt.contains("O_DIRECT"), "{doubt}");
    let shown = fathom.run(["show"]).expect_code(0).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("it is not known whether memory or a device answered"), "{shown}");
    assert!(!flat.contains("take them for"), "{shown}");
}

/// An overlay of a test, unmounted before what it stands on.
struct Overlay<'p>(&'p Path);

impl Drop for Overlay<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn an_overlay_with_relative_names_is_unknown_and_not_called_a_cache() {
    let name = "an_overlay_with_relative_names_is_unknown_and_not_called_a_cache";
    let Some(fs) = LoopFs::ext4(name).mebibytes(32).mount() else { return };
    for dir in ["low", "up", "work", "merged"] {
        std::fs::create_dir(fs.path().join(dir)).expect("a directory");
    }
    let merged = fs.path().join("merged");
    let options = "lowerdir=low,upperdir=up,workdir=work";
    let mounted = Command::new("mount")
        .args(["-t", "overlay", "-o", options, "overlay", "merged"])
        .current_dir(fs.path())
        .status();
    if !mounted.is_ok_and(|s| s.success()) {
        return skip(name, "this kernel mounts no overlay here");
    }
    let _overlay = Overlay(&merged);
    let fathom = Fathom::new();
    let run = run(&fathom, &reads(&merged));
    if run["phases"][0]["repetitions"][0]["physical"]["method"] != "none" {
        return skip(name, "mount made the names absolute");
    }
    let doubt = sentence(&run, "doubts", "no-counters").expect("a doubt");
    assert!(doubt.contains("have relative names, such as \""), "{doubt}");
    unknown_and_no_more(&fathom, &run);
}

#[test]
fn a_survey_of_a_small_image_in_memory_says_both_first() {
    let name = "a_survey_of_a_small_image_in_memory_says_both_first";
    if TestDir::new().in_memory() {
        return skip(name, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::ext4(name).mebibytes(24).mount() else { return };
    let fathom = Fathom::new();
    let dir = fs.path().to_str().expect("UTF-8");
    let outcome = fathom.run(["survey", "--quick", dir, "-o", "page.html"]).expect_code(0);
    let first: Vec<&str> = outcome.stdout.lines().skip(1).take(4).collect();
    let first = first.join(" ");
    assert!(first.contains("MiB are free: the largest file has"), "{}", outcome.stdout);
    assert!(first.contains("figures may be those of this machine's memory"), "{}", outcome.stdout);
    let run = last_run(&fathom);
    let devices = run["environment"]["devices"].as_array().expect("devices");
    assert_eq!(devices[0]["kind"], "loop");
}
