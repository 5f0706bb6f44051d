//! Fixtures of sar, and of suites that compare two sets of results, with malformed lines in each.

use super::formats::read;
use super::{Imported, import};
use fathom_record::Run;

fn left(imported: &Imported) -> Vec<&str> {
    imported.not_understood.iter().map(|(_, line)| line.as_str()).collect()
}

/// The value in base units, and the unit.
fn of(run: &Run, phase: &str, name: &str) -> (f64, String) {
    let phase = run.phases.iter().find(|p| p.name == phase).expect(phase);
    let figure = phase.repetitions[0].figure(name).expect(name);
    (figure.value, figure.unit.clone())
}

#[test]
fn sar_in_text() {
    let imported = read("sar.txt");
    let run = |n: usize| &imported.found[n].runs[0];
    assert_eq!(imported.found.len(), 5);
    assert_eq!(of(run(0), "vda", "rkB/s"), (2480.0 * 1024.0, "bytes/s".into()));
    assert_eq!(of(run(0), "system", "bread/s"), (4960.0 * 512.0, "bytes/s".into()), "the same bytes");
    assert_eq!(of(run(0), "system", "pgpgin/s"), (2480.0 * 1024.0, "bytes/s".into()), "the same bytes");
    assert_eq!(of(run(0), "vda", "await"), (390_000.0, "ns".into()));
    assert_eq!(run(0).phases.iter().find(|p| p.name == "vda").map(|p| p.repetitions.len()), Some(2));
    assert_eq!(of(run(0), "vda, average", "tps"), (151.0, "ops/s".into()), "no third time");
    assert_eq!(of(run(0), "interrupt 24", "CPU0"), (2.0, String::new()), "its table has no known heading");
    assert_eq!(of(run(1), "vda", "rd_sec/s"), (1256.0 * 512.0, "bytes/s".into()), "a decimal comma");
    assert_eq!(of(run(2), "vda", "wkB/s"), (2.1 * 1_048_576.0, "bytes/s".into()), "a unit after the value");
    assert_eq!(of(run(3), "processors", "%idle"), (85.5, "%".into()));
    assert_eq!(of(run(4), "vda", "rkB/s"), (8220.0 * 1024.0, "bytes/s".into()));
    assert_eq!(
        left(&imported),
        [
            "03:11:37 AM was a quiet second",
            "03:11:37 AM       vdb      many   2480.00     12.00     12.00     12.40      0.08      0.39      0.40",
            "storage1;1;2026-11-29 03:11:43 UTC;vdb;4.00"
        ]
    );
}

#[test]
fn sar_in_json_has_the_names_of_its_tables() {
    let imported = read("sadf.json");
    let run = &imported.found[0].runs[0];
    assert_eq!(of(run, "vda", "rd_sec/s"), of(run, "vda", "rkB/s"));
    assert_eq!(of(run, "vda", "avgrq-sz").0, 18.46 * 512.0);
    assert_eq!(of(run, "vdb", "%util"), (0.1, "%".into()));
    assert_eq!(of(run, "processors", "%idle"), (99.5, "%".into()));
    assert_eq!(of(run, "system", "bread/s"), (16440.0 * 512.0, "bytes/s".into()));
    assert_eq!(of(run, "system", "memory memfree"), (15_122_892.0, String::new()), "no unit in the document");
    assert_eq!(run.phases.iter().map(|p| p.repetitions.len()).max(), Some(2));
    assert_eq!(imported.not_understood, []);
}

#[test]
fn fsperf() {
    let imported = read("fsperf.txt");
    let [before, after] = [0, 1].map(|n| &imported.found[0].runs[n]);
    assert_eq!([&before.label, &after.label], ["baseline", "current"]);
    assert_eq!(of(after, "randwrite2files", "elapsed"), (33e9, "ns".into()));
    assert_eq!(of(before, "randwrite2files", "end_state_umount_ns"), (1.9e9, "ns".into()));
    assert_eq!(of(before, "randwrite2files", "write_io_kbytes"), (2_035_940.0 * 1024.0, "bytes".into()));
    assert_eq!(of(before, "randwrite2files", "write_bw_bytes").1, "bytes/s");
    assert_eq!(of(before, "randwrite2files", "dev_read_iops"), (480.0, "count".into()), "of the whole test");
    assert_eq!(
        of(before, "randwrite2files", "write_iops, standard deviation"),
        (392.92, "ops/s".into()),
        "it is the baseline's"
    );
    assert_eq!(of(after, "randwrite2files", "elapsed, change"), (-33.06, "%".into()));
    assert_eq!(
        of(after, "dbench60", "throughput"),
        (510e6, "bytes/s".into()),
        "a release without deviations"
    );
    let colored = &imported.found[1].runs[1];
    assert_eq!(of(colored, "colored", "elapsed, change"), (10.0, "%".into()));
    assert_eq!(left(&imported), ["write_clat_ns_p99           many       653721      65904.74    -20.99% *"]);
}

#[test]
fn mmtests() {
    let imported = read("mmtests.txt");
    let [before, after] = [0, 1].map(|n| &imported.found[0].runs[n]);
    assert_eq!([&before.label, &after.label], ["6.1.0-rc1 vanilla", "6.1.0-rc1 readahead-v2"]);
    assert_eq!(of(after, "read-4k", "Hmean"), (1400.84, String::new()));
    assert_eq!(of(after, "read-4k", "Hmean, gain"), (12.0, "%".into()));
    assert_eq!(of(after, "read-64k", "Hmean, gain"), (-2.0, "%".into()));
    let hmean = before.phases[0].repetitions[0].figure("Hmean").expect("a mean");
    assert_eq!(hmean.higher_is_better, Some(true), "rates have harmonic means");
    assert_eq!(of(after, "latency-4", "Amean").0, 1.67, "its gain is none");
    assert_eq!(of(after, "read-4k", "BHmean-50").0, 1401.12, "a blank line does not end the table");
    let durations = &imported.found[1].runs;
    assert_eq!(of(&durations[1], "duration", "Elapsed"), (290.5e9, "ns".into()));
    assert_eq!(of(&imported.found[2].runs[0], "Minor Faults", "Ops"), (12_000.0, String::new()));
    assert_eq!(of(&imported.found[3].runs[1], "duration", "User"), (10.25e9, "ns".into()));
    assert_eq!(left(&imported), ["Amean     latency-8       broken (   0.00%)        1.67 (   2.00%)"]);
}

#[test]
fn headings_of_mmtests_without_a_blank_between_them() {
    let durations = "                   6.5.0-rc6   6.5.0-rc6\n                sched-pidclear-v1r5sched-forcescan-v1r5\nDuration User        5702.00    10264.25\n";
    let labels = |text: &str| {
        let imported = import("-", text.as_bytes(), None);
        assert_eq!(left(&imported), [""; 0]);
        let runs = &imported.found.last().expect("a table").runs;
        assert_eq!(of(&runs[1], "duration", "User"), (10_264.25e9, "ns".into()));
        runs.iter().map(|r| r.label.clone()).collect::<Vec<_>>()
    };
    let glued = "sched-pidclear-v1r5sched-forcescan-v1r5";
    let numbered = [1, 2].map(|n| format!("6.5.0-rc6 (column {n} of {glued})"));
    assert_eq!(labels(durations), numbered);
    let above = "      6.5.0-rc6               6.5.0-rc6\n                         sched-pidclear-v1r5   sched-forcescan-v1r5\nAmean     syst-NUMA02        2.35 (   0.00%)        1.86 (  21.13%)\n\n";
    assert_eq!(
        labels(&format!("{above}{durations}")),
        ["6.5.0-rc6 sched-pidclear-v1r5", "6.5.0-rc6 sched-forcescan-v1r5"]
    );
}
