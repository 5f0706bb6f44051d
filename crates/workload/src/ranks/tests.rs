//! Shares of ranks: which rank uses which bytes of which files, without gaps or overlaps.

use super::{Seat, read_what_was_written, wear_out};
use crate::ops::{Done, Place, Region, StreamOps};
use crate::{Access, Amount, Bytes, Files, Program, Stream, Workload};
use std::collections::BTreeSet;

const TEXT: &str = r#"
name = "t"
seed = 7
[ranks]
shared = { common = "strided" }
reordered = ["read back"]
wear_out = ["write"]
[[fileset]]
name = "own"
files = { list = ["d/own"] }
size = { fixed = "1MiB" }
[[fileset]]
name = "common"
files = { list = ["d/common"] }
size = { fixed = "1MiB" }
[[phase]]
name = "write"
before = [{ recreate = "own" }, { recreate = "common" }, "sync"]
stop = { time = "1s" }
[[phase.group]]
name = "w"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "own"
direction = "write"
record = { fixed = "64KiB" }
[[phase.group]]
name = "c"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "common"
direction = "write"
record = { fixed = 47008 }
[[phase]]
name = "read back"
before = [{ evict = "own" }]
[[phase.group]]
name = "r"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "own"
direction = "read"
record = { fixed = "64KiB" }
"#;

fn workload() -> Workload {
    let workload = Workload::from_toml(TEXT).unwrap_or_else(|d| panic!("{}", d.render("t", TEXT)));
    workload.check_to_run().unwrap();
    workload
}

fn seat(rank: u32, ranks: u32) -> Seat {
    Seat { rank, ranks, shift: 2, first_on_host: rank.is_multiple_of(2) }
}

fn stream(workload: &Workload, phase: usize, group: usize) -> Stream {
    match &workload.phases[phase].groups[group].threads[0].program {
        Program::Stream(stream) => (**stream).clone(),
        Program::Flow(_) => panic!("a flow"),
    }
}

/// The bytes that a stream touches, in order.
fn offsets(stream: &Stream, file: u64, workload: &Workload) -> Vec<u64> {
    let region =
        Region { start: stream.start.0, length: stream.length.map_or(file - stream.start.0, |b| b.0) };
    let place = Place { phase: 0, worker: 0, repetition: 0 };
    let mut ops = StreamOps::new(stream, region, workload.seed.0, place).unwrap();
    let mut found = Vec::new();
    while let Some(op) = ops.next(&Done::default()) {
        found.push(op.offset);
    }
    found
}

#[test]
fn the_share_of_the_only_rank_is_the_workload() {
    assert_eq!(workload().for_rank(Seat::ALONE).unwrap(), workload());
    let text = workload().to_toml().unwrap();
    assert_eq!(Workload::from_toml(&text).unwrap(), workload(), "{text}");
}

#[test]
fn every_record_of_a_strided_file_belongs_to_one_rank() {
    for ranks in [2u32, 3, 4, 7] {
        let mut all = BTreeSet::new();
        let mut each = None;
        for rank in 0..ranks {
            let share = workload().for_rank(seat(rank, ranks)).unwrap();
            let own = offsets(&stream(&share, 0, 1), 1 << 20, &share);
            assert!(each.replace(own.len()).is_none_or(|n| n == own.len()), "all do as much");
            assert!(
                own.iter()
                    .enumerate()
                    .all(|(i, &at)| at == (i as u64 * u64::from(ranks) + u64::from(rank)) * 47008)
            );
            assert!(own.into_iter().all(|at| all.insert(at)), "no record twice");
        }
        assert_eq!(all.len() as u64, (1 << 20) / 47008 / u64::from(ranks) * u64::from(ranks));
    }
}

#[test]
fn pieces_of_a_segmented_file_do_not_touch() {
    let text = TEXT.replace("\"strided\"", "\"segmented\"");
    let workload = Workload::from_toml(&text).unwrap();
    let mut end = 0;
    for rank in 0..3 {
        let share = workload.for_rank(seat(rank, 3)).unwrap();
        let stream = stream(&share, 0, 1);
        assert_eq!((stream.start.0, stream.access.clone()), (end, Access::Sequential));
        end += stream.length.unwrap().0;
        assert_eq!(stream.length.unwrap().0 % 47008, 0);
    }
    assert!(end <= 1 << 20);
}

#[test]
fn every_rank_has_files_of_its_own_and_reads_those_of_the_next_host() {
    let path = |w: &Workload, set: &str| w.fileset(set).unwrap().files.path(0).unwrap().display().to_string();
    let third = workload().for_rank(seat(3, 4)).unwrap();
    assert_eq!(path(&third, "own"), "d/own.r0003");
    assert_eq!(path(&third, "common"), "d/common");
    let reads = stream(&third, 1, 0).fileset;
    assert_eq!(path(&third, &reads), "d/own.r0001", "two ranks a host: three and one are on different ones");
    assert_eq!(third.check(), Ok(()));
    let files = |w: &Workload| match &w.fileset("own").unwrap().files {
        Files::List(list) => list.clone(),
        other => panic!("{other:?}"),
    };
    let all: BTreeSet<_> = (0..4).flat_map(|r| files(&workload().for_rank(seat(r, 4)).unwrap())).collect();
    assert_eq!(all.len(), 4);
}

#[test]
fn the_first_rank_creates_shared_files_and_the_first_of_a_host_syncs_them() {
    let steps = |rank| {
        let share = workload().for_rank(seat(rank, 4)).unwrap();
        share.phases[0].before.iter().map(|a| format!("{a:?}")).collect::<Vec<_>>()
    };
    assert_eq!(steps(0).len(), 3);
    assert_eq!(steps(1), ["Recreate(\"own\")"]);
    assert_eq!(steps(2), ["Recreate(\"own\")", "Sync"]);
}

#[test]
fn seeds_differ_and_follow_from_one() {
    // A file with at least one record per rank.
    let large = Workload::from_toml(&TEXT.replace("1MiB", "64MiB")).unwrap();
    let seeds: BTreeSet<u64> = (0..64).map(|r| large.for_rank(seat(r, 64)).unwrap().seed.0).collect();
    assert_eq!(seeds.len(), 64);
    assert!(seeds.contains(&7));
    assert_eq!(large.for_rank(seat(5, 64)).unwrap(), large.for_rank(seat(5, 64)).unwrap());
}

#[test]
fn wear_out_does_exactly_the_missing_operations() {
    let share = workload().for_rank(seat(1, 4)).unwrap();
    assert_eq!(wear_out(&share, 0, &[5, 5], 5), None);
    let rest = wear_out(&share, 0, &[3, 5], 5).unwrap();
    assert!(rest.phases[0].before.is_empty() && rest.phases[0].stop.time.is_none());
    assert_eq!(offsets(&stream(&rest, 0, 0), 1 << 20, &rest), [3 * 65536, 4 * 65536]);
    let whole = offsets(&stream(&share, 0, 1), 1 << 20, &share);
    assert_eq!(
        offsets(&stream(&rest, 0, 1), 1 << 20, &rest),
        [whole[4]],
        "the last one again: a worker has to do something"
    );
    let rest = wear_out(&share, 0, &[5, 2], 4).unwrap();
    assert_eq!(offsets(&stream(&rest, 0, 1), 1 << 20, &rest), whole[2..4]);
    assert_eq!(rest.check(), Ok(()));
}

#[test]
fn later_phases_read_what_was_written_and_no_more() {
    let phase = |name: &str, set: &str, direction: &str| {
        format!(
            "[[phase]]\nname = \"{name}\"\nstop = {{ time = \"1s\" }}\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"{set}\"\ndirection = \"{direction}\"\nrecord = {{ fixed = \"64KiB\" }}\n"
        )
    };
    let files = |name: &str| {
        format!(
            "[[fileset]]\nname = \"{name}\"\nfiles = {{ list = [\"{name}\"] }}\nsize = {{ fixed = \"1MiB\" }}\n"
        )
    };
    let head = "name = \"t\"\n[ranks]\nshared = { hard = \"strided\" }\nreordered = [\"read easy\", \"read hard\"]\nwear_out = [\"write easy\", \"write hard\"]\n";
    let text = [
        head.to_owned(),
        files("easy"),
        files("hard"),
        phase("write easy", "easy", "write"),
        phase("write hard", "hard", "write"),
        phase("read easy", "easy", "read"),
        phase("read hard", "hard", "read"),
    ];
    let whole = Workload::from_toml(&text.concat()).unwrap();
    let planned = whole.for_rank(seat(1, 4)).unwrap();
    let of = |share: &Workload, phase: usize| offsets(&stream(share, phase, 0), 1 << 20, share);
    let mut share = planned.clone();
    for most in [3, 2, 4] {
        read_what_was_written(&whole, &planned, &mut share, 0, most);
        read_what_was_written(&whole, &planned, &mut share, 1, most);
        assert_eq!(share.check_to_run(), Ok(()));
        for (write, read) in [(0, 2), (1, 3)] {
            assert_eq!(of(&share, write), of(&planned, write), "writing is as planned");
            assert_eq!(of(&share, read), of(&planned, read)[..most as usize], "{most} records, phase {read}");
        }
    }
}

#[test]
fn indivisible_workloads_are_refused() {
    let wrong = |old: &str, new: &str| {
        let text = TEXT.replace(old, new);
        Workload::from_toml(&text)
            .unwrap()
            .check()
            .unwrap_err()
            .iter()
            .map(ToString::to_string)
            .collect::<String>()
    };
    assert!(wrong("shared = { common", "shared = { cmmon").contains("file set cmmon"));
    assert!(
        wrong("reordered = [\"read back\"]", "reordered = [\"write\"]").contains("only phases that read")
    );
    assert!(wrong("stop = { time = \"1s\" }", "").contains("no stop after a time"));
    let random = TEXT
        .replace("record = { fixed = 47008 }", "record = { fixed = \"4KiB\" }\naccess = \"uniform\"")
        .replace("wear_out = [\"write\"]", "");
    let error = Workload::from_toml(&random).unwrap().for_rank(seat(0, 2)).unwrap_err();
    assert!(error.contains("sequential"), "{error}");
    let few = workload().for_rank(seat(0, 100)).unwrap_err();
    assert!(few.contains("100 ranks"), "{few}");
    let amounts = workload().for_rank(seat(0, 4)).unwrap();
    assert_eq!(stream(&amounts, 0, 1).amount, Amount::Operations(5));
    assert_eq!(stream(&amounts, 0, 1).length, Some(Bytes(17 * 47008)));
}

#[test]
fn coupled_streams_are_neither_worn_out_nor_reordered() {
    let refused = |change: fn(&mut Workload)| {
        let mut workload = workload();
        assert_eq!(workload.ranks_errors(), Vec::<String>::new());
        change(&mut workload);
        workload.ranks_errors().join("; ")
    };
    let timed = refused(|w| w.phases[0].groups[0].times.company = Some(1));
    assert!(timed.contains("groups without their own times"), "{timed}");
    let ratio = refused(|w| {
        let ratio = crate::Ratio { group: 0, weight: 2, sleep: crate::Duration(0) };
        w.phases[0].streams_mut().for_each(|s| s.pace.ratio = Some(ratio));
    });
    assert!(ratio.contains("records of one size in order"), "{ratio}");
    let remembered = refused(|w| {
        let read = w.phases.iter_mut().filter(|p| p.name == "read back");
        let from = crate::WrittenBy { phase: 0, worker: 0 };
        read.flat_map(crate::Phase::streams_mut).for_each(|s| s.written_by = Some(from));
    });
    assert!(remembered.contains("cannot be verified"), "{remembered}");
}
