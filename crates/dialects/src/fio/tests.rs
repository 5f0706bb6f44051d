//! Whole command lines and job files: the resulting jobs, and what is refused.

use super::*;
use fathom_workload::{Access, Amount, Direction, Program, Record, Stream, Workload};
use proptest::prelude::*;

fn variable(name: &str) -> Option<String> {
    (name == "SZ").then(|| "2m".into())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.to_str().unwrap_or_default();
    for (kind, times) in [("twice-", 2), ("deep-", 1)] {
        if let Some(number) = name.strip_prefix(kind).and_then(|rest| rest.strip_suffix(".inc")) {
            let next = number.parse::<u32>().map_err(|e| e.to_string())? + 1;
            let line = format!("include {kind}{next}.inc\n");
            return Ok(if times == 2 && next == 15 { Vec::new() } else { line.repeat(times).into() });
        }
    }
    Ok(match name {
        "dir/more.inc" => "iodepth=4\n",
        "/sys/devices/system/node/online" => "0-2\n",
        "/sys/devices/system/node/node0/cpulist" => "0-1,4\n",
        "/sys/devices/system/node/node1/cpulist" => "2-3\n",
        "/sys/devices/system/node/node2/cpulist" => "\n",
        "section.inc" => "[b]\n",
        "self.inc" => "include self.inc\n",
        "kb.fio" => "[global]\nsize=64k\nkb_base=1000\n[a]\n[b]\nsize=8k\nkb_base=1024\n[c]\nsize=8k\n",
        "two.fio" => "[global]\nbs=8k\nrw=randread\n[g1]\n[g2]\nbs=16k\n[global]\nbs=32k\n[g3]\n",
        "database.fio" => DATABASE,
        "trace.log" => {
            "fio version 3 iolog\n10 f1 add\n10 f0 add\n10 f2 add\n12 f1 open\n20 f1 write 0 4096\n220 f2 write 12288 8192\n\
             320 f2 datasync 12288 0\n520 f1 read 1536 512\n530 f1 close\n"
        }
        "trims.log" => "fio version 3 iolog\n0 f add\n0 f open\n1 f trim 0 4096\n2 f write 0 4096\n",
        "broken.log" => "fio version 3 iolog\nhere\n",
        "blkparse.txt" => {
            "  8,0    1        1     0.001000000   100  Q   W 2048 + 8 [dd]\n\
             8,0    1        2     0.001100000   100  D   W 2048 + 8 [dd]\n\
             8,0    1        3     0.001900000   100  C   W 2048 + 8 [0]\n\
             8,0    1        4     0.002500000   100  Q   R 0 + 2 [dd]\n"
        }
        "absolute.log" => "fio version 3 iolog\n0 /etc/f add\n0 /etc/f open\n1 /etc/f write 0 4096\n",
        "elsewhere.txt" => "  9,9    1        1     0.001000000   100  Q   W 2048 + 8 [dd]\n",
        "gone.txt" => "  8,16   1        1     0.001000000   100  Q   W 2048 + 8 [dd]\n",
        "lost.txt" => LOST,
        "long.log" => {
            let lines = (0..300).map(|n| format!("{n} f read 0 512\n"));
            return Ok(format!("fio version 3 iolog\n{}", lines.collect::<String>()).into());
        }
        "cut.bin" => return Ok(cut()),
        "ten.bin" => return Ok([arrival(10_000), arrival(20_000)].concat()),
        "fifteen.bin" => return Ok(arrival(15_000)),
        _ => return Err("no such file".into()),
    }
    .into())
}

fn find(path: &Path) -> Option<FoundPath> {
    match path.to_str()? {
        "/dev/disk" => Some(FoundPath { bytes: 1 << 30, device: true, bottomless: false }),
        "/dev/blank" | "/dev/nvme0n1" => Some(FoundPath { bytes: 1 << 30, device: true, bottomless: false }),
        "there" => Some(FoundPath { bytes: 1 << 20, device: false, bottomless: false }),
        "/dev/null" => Some(FoundPath { bytes: 0, device: false, bottomless: true }),
        _ => None,
    }
}

const LOST: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 1/8   #P:2
#
              dd-18493   [000] .....  1301.773439: block_bio_queue: 7,0 WS 0 + 8 [dd]
";

/// A read as recorded by blktrace, followed by a truncated record.
fn cut() -> Vec<u8> {
    let mut bytes = arrival(1000);
    bytes.extend_from_within(..20);
    bytes
}

/// A read that arrived at `time_ns`, as recorded by blktrace.
fn arrival(time_ns: u32) -> Vec<u8> {
    let words: [u32; 12] = [0x6561_7407, 1, time_ns, 0, 0, 0, 4096, 0x0011_0001, 77, 8 << 20, 0, 0];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn device(major: u32, minor: u32) -> Option<PathBuf> {
    match (major, minor) {
        (8, 0) => Some("/dev/disk".into()),
        (8, 16) => Some("/dev/gone".into()),
        _ => None,
    }
}

fn list(path: &Path) -> Result<Vec<PathBuf>, String> {
    match path.to_str() {
        Some("dir") => Ok(vec!["there".into(), "/dev/disk".into()]),
        _ => Err("no such directory".into()),
    }
}

/// A world with a few files.
pub(super) fn world() -> World<'static> {
    World {
        variable: &variable,
        read: &read,
        trace: &read,
        find: &find,
        allowed: &|path| path == Path::new("allowed"),
        blank: &|path| path == Path::new("/dev/blank"),
        device: &device,
        list: &list,
        page_bytes: 4096,
        memory_mib: 1024,
        cpus: 4,
        clock_seed: 77,
    }
}

const DATABASE: &str = "\
; a log beside random reads
[global]
directory=/data
size=64m
ioengine=io_uring
direct=1
runtime=30s
time_based

[reader]
rw=randread
bs=8k
iodepth=16
numjobs=2
norandommap

[log]
rw=write
bs=4k
fdatasync=1

[check]
stonewall
time_based=0
runtime=0
rw=randwrite
verify=crc32c
";

pub(super) fn planned(args: &str) -> Plan {
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    match plan(&args, &world()) {
        Ok(Invocation::Jobs(plan)) => *plan,
        Ok(Invocation::Help(help)) => panic!("{help:?}"),
        Ok(Invocation::Inflate(log)) => panic!("{log:?}"),
        Ok(Invocation::Nothing(_)) => panic!("no job: {args:?}"),
        Err(wrong) => panic!("{wrong}"),
    }
}

pub(super) fn refused(args: &str) -> String {
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    plan(&args, &world()).err().map_or_else(|| panic!("{args:?} is accepted"), |w| w.to_string())
}

#[test]
fn every_job_may_have_its_own_seed() {
    let seeds = |line: &str| {
        let plan = planned(line);
        let own = |n| stream(&plan.workload, 0, n).seed.map(|seed| seed.0);
        (plan.workload.seed.0, own(0), own(1))
    };
    let (a, b) = ("--name=a --size=1m --rw=randread", "--name=b --size=1m --rw=randread");
    assert_eq!(seeds(&format!("{a} {b}")), (0x89, None, None));
    assert_eq!(seeds(&format!("{a} --randseed=5 {b} --randseed=5")), (5, None, None));
    assert_eq!(seeds(&format!("{a} --randseed=5 {b} --randseed=6")), (5, None, Some(6)));
    assert_eq!(seeds(&format!("{a} {b} --randrepeat=0")), (0x89, None, Some(77)));
}

fn stream(workload: &Workload, phase: usize, group: usize) -> &Stream {
    match &workload.phases[phase].groups[group].threads[0].program {
        Program::Stream(stream) => stream,
        Program::Flow(_) => panic!("a flow"),
    }
}

#[test]
fn a_job_file_as_a_workload() {
    insta::assert_snapshot!(explain::check(&planned("database.fio")));
}

#[test]
fn settings_without_a_workload_key_are_reported() {
    let both = |args: &str| {
        let plan = planned(args);
        (explain::check(&plan), explain::explain(&plan))
    };
    let jobs = "--cgroup=g --ioscheduler=none --name=a --size=4k --name=b --size=4k";
    let (check, explained) = both(jobs);
    let group = "not in the workload: fathom runs in the control group g, which is made if it is missing";
    for note in [
        "not in the workload: job a sets the I/O scheduler of the block devices below its files to none",
        "not in the workload: job b sets the I/O scheduler",
        group,
    ] {
        assert_eq!(check.matches(&format!("# {note}")).count(), 1, "{check}");
        assert_eq!(explained.matches(&format!("note: {note}")).count(), 1, "{explained}");
    }
    assert!(check.contains("and then removed at the end"), "{check}");
    assert!(Workload::from_toml(&check).is_ok(), "notes are comments");
    let (check, explained) =
        both("--cgroup=g --cgroup_nodelete=1 --name=a --ioengine=null --size=4k --ioscheduler=none");
    assert!(check.contains(group) && !check.contains("removed at the end"), "{check}");
    assert!(!check.contains("I/O scheduler") && !explained.contains("I/O scheduler"), "it has no files");
    assert!(!both("--name=a --size=4k").0.contains("not in the workload"));
}

#[test]
fn every_value_has_an_origin() {
    insta::assert_snapshot!(explain::explain(&planned(
        "--bs=64k --loops=2 database.fio --section=reader --section=check"
    )));
}

#[test]
fn groups_and_steps() {
    let text =
        planned("--ioengine=null --size=1m --name=a --name=b --stonewall --name=c --name=d --new_group");
    let ids: Vec<(u32, u32)> = text.jobs.iter().map(|j| (j.group, j.step)).collect();
    assert_eq!(ids, [(0, 0), (1, 1), (1, 1), (2, 1)]);
    assert_eq!(text.workload.phases.len(), 2);
    assert_eq!(text.jobs[3].places, [plan::JobPlace { phase: 1, worker: 2 }]);
}

#[test]
fn files_of_clones() {
    let of = |args: &str| {
        let plan = planned(args);
        plan.jobs[0]
            .files
            .iter()
            .map(|f| f.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(
            "--name=nm --directory=q1:q2 --numjobs=3 --nrfiles=2 --size=64k --rw=write --file_service_type=sequential"
        ),
        ["q1/nm.0.0 q1/nm.0.1", "q2/nm.1.0 q2/nm.1.1", "q1/nm.2.0 q1/nm.2.1"]
    );
    assert_eq!(of("--name=x --filename=there --numjobs=2"), ["there", "there"]);
    assert_eq!(of("--name=a/b --size=1m --filename_format=d/$jobname-$jobnum"), ["d/a/b-0"]);
    // fio joins a directory with any listed name; of several directories it uses the first.
    assert_eq!(of("--name=x --directory=q1:q2 --filename=f --numjobs=2 --size=1m"), ["q1/f", "q1/f"]);
    assert_eq!(of("--name=x --directory=q1 --filename=/abs/f --size=1m"), ["q1/abs/f"]);
    assert_eq!(of("--name=x --filename=f --directory=q1 --size=1m"), ["f"]);
    assert!(planned("--name=x --filename=f --directory=q1 --size=1m").notes[0].contains("put it before"));
    assert_eq!(of("--name=/dev/disk --rw=read"), ["/dev/disk"]);
    assert_eq!(of("--name=there --size=1m"), ["there.0.0"]);
    assert_eq!(of("--name=/dev/disk --directory=q1 --size=1m"), ["q1/dev/disk.0.0"]);
}

#[test]
fn an_engine_has_its_own_options() {
    for (args, what) in [
        ("--name=a --size=1m --hipri", "Bad option <hipri>"),
        (
            "--name=a --size=1m --ioengine=libaio --fixedbufs",
            "fixedbufs is an option of io_uring and io_uring_cmd, and the engine is libaio",
        ),
        ("--name=a --size=1m --ioengine=null --userspace_reap", "an option of libaio"),
        ("--hipri --name=a --size=1m --ioengine=io_uring", "the engine is psync"),
        ("--name=a --size=1m --ioengine=libaio --nowait=1", "nowait is done by pvsync2"),
    ] {
        let wrong = refused(args);
        assert!(wrong.contains(what), "{args}: {wrong}");
    }
    // A global option specific to another engine does not apply to the job, as in fio.
    let plan =
        planned("--ioengine=io_uring --fixedbufs --name=a --size=1m --ioengine=psync --name=b --size=1m");
    assert!(
        plan.notes.iter().any(|note| note.contains("job a: fixedbufs is an option of io_uring")),
        "{:?}",
        plan.notes
    );
}

#[test]
fn a_bracket_behind_a_number_is_noted() {
    let plan = planned("--name=a --size=65536)");
    let without = planned("--name=a --size=65536").workload.to_toml().unwrap();
    assert_eq!(plan.workload.to_toml().unwrap().replace("65536)", "65536"), without);
    assert!(plan.notes.iter().any(|note| note.starts_with("size=65536): as in fio")), "{:?}", plan.notes);
}

#[test]
fn fadvise_hint_passes_the_access_order() {
    use fathom_workload::Advice;
    let advice =
        |args: &str| stream(&planned(&format!("--name=a --size=1m {args}")).workload, 0, 0).open.advice;
    assert_eq!(advice("--rw=read"), Advice::Sequential);
    assert_eq!(advice("--rw=randrw"), Advice::Random);
    assert_eq!(advice("--rw=randread --fadvise_hint=0"), Advice::No);
    assert_eq!(advice("--rw=read --fadvise_hint=random"), Advice::Random);
}

#[test]
fn an_error_ends_its_own_job() {
    use fathom_workload::Failed;
    let failed = |args: &str| planned(&format!("--size=1m --name=a {args}")).workload.phases[0].stop.failed;
    assert_eq!(failed("--name=b"), Failed::Worker);
    assert_eq!(failed("--name=b --exitall_on_error"), Failed::Phase);
    assert_eq!(failed("--rw=write --verify=crc32c"), Failed::Run);
}

#[test]
fn amounts() {
    let amount = |args: &str| {
        let plan = planned(&format!("--name=a --bs=4k {args}"));
        stream(&plan.workload, 0, 0).amount
    };
    use fathom_workload::Bytes;
    assert_eq!(amount("--size=10k"), Amount::Pass);
    assert_eq!(amount("--size=8k --loops=3"), Amount::Passes(3));
    assert_eq!(amount("--size=16k --io_size=36k"), Amount::Bytes(Bytes(36864)));
    assert_eq!(amount("--size=1m --runtime=5"), Amount::Pass);
    assert_eq!(amount("--size=1m --runtime=5 --time_based"), Amount::Endless);
    assert_eq!(amount("--size=1m --time_based"), Amount::Pass);
    assert_eq!(amount("--size=1m --number_ios=7"), Amount::Operations(7));
    assert_eq!(amount("--size=1m --number_ios=9999"), Amount::Operations(256));
    for sizes in ["--bsrange=4k-16k", "--bssplit=4k/50:64k/50 --nrfiles=4", "--rw=rw --bs=4k,8k"] {
        assert_eq!(amount(&format!("--size=1m --number_ios=7 {sizes}")), Amount::Operations(7), "{sizes}");
        assert_eq!(
            amount(&format!("--size=1m --number_ios=257 {sizes}")),
            Amount::Bytes(Bytes(1 << 20)),
            "{sizes}"
        );
        assert_eq!(
            amount(&format!("--size=1m --number_ios=7 --loops=2 {sizes}")),
            Amount::Operations(14),
            "{sizes}"
        );
    }
    assert!(refused("--name=a --size=1p --bsrange=4k-8k --number_ios=99m").contains("at most 16777216"));
    assert_eq!(amount("--filename=there --size=50%"), Amount::Pass);
    assert_eq!(
        stream(&planned("--name=a --filename=there --size=50%").workload, 0, 0).length,
        Some(Bytes(1 << 19))
    );
}

#[test]
fn the_region_of_a_clone() {
    let plan =
        planned("--name=a --filename=f --size=1m --offset=64k --offset_increment=2m --numjobs=2 --rw=write");
    let region = |group| {
        let s = stream(&plan.workload, 0, group);
        (s.start.0, s.length.unwrap().0)
    };
    assert_eq!([region(0), region(1)], [(65536, 1 << 20), (65536 + (2 << 20), 1 << 20)]);
    assert_eq!(
        plan.workload.filesets[0].size,
        fathom_workload::Sizing::Fixed(fathom_workload::Bytes(65536 + (3 << 20)))
    );
    let whole = planned("--name=a --filename=there --offset=50% --rw=randread");
    assert_eq!(
        (stream(&whole.workload, 0, 0).start.0, stream(&whole.workload, 0, 0).length.unwrap().0),
        (1 << 19, 1 << 19)
    );
}

#[test]
fn orders_and_directions() {
    let of = |args: &str| {
        let plan = planned(&format!("--name=a --size=16m {args}"));
        let s = stream(&plan.workload, 0, 0).clone();
        (s.direction, s.access)
    };
    assert_eq!(of("--rw=randread"), (Direction::Read, Access::Permuted));
    assert_eq!(of("--rw=randread --norandommap"), (Direction::Read, Access::Uniform));
    assert_eq!(of("--rw=randread --norandommap --random_generator=lfsr").1, Access::Permuted);
    assert_eq!(of("--rw=randread --bsrange=4k-16k --random_generator=lfsr").1, Access::Uniform);
    assert_eq!(
        of("--rw=randwrite --random_distribution=zipf:1.2"),
        (Direction::Write, Access::Zipf { theta: 1.2 })
    );
    let around = |order, centre| Access::Around { order: Box::new(order), centre };
    assert_eq!(
        of("--rw=randread --random_distribution=normal:20"),
        (Direction::Read, Access::Normal { deviation_percent: 20.0 })
    );
    assert_eq!(
        of("--rw=randread --random_distribution=normal:20:0.25").1,
        around(Access::Normal { deviation_percent: 20.0 }, 0.25)
    );
    assert_eq!(
        of("--rw=randread --random_distribution=pareto:0.3:1").1,
        around(Access::Pareto { h: 0.3 }, 0.0)
    );
    let mix = |p| Direction::Mix(fathom_workload::Mix::ReadPercent(p));
    assert_eq!(of("--rw=rw --rwmixread=70"), (mix(70), Access::SequentialByKind));
    assert_eq!(of("--rw=randrw --rwmixread=70 --rwmixwrite=10").0, mix(90));
    let paced = Direction::Mix(fathom_workload::Mix::ReadsPerWriteIssued(3.0));
    assert_eq!(of("--rw=randrw --rate_iops=300,100").0, paced);
    assert_eq!(of("--rw=trim"), (Direction::Trim, Access::Sequential));
    assert_eq!(of("--rw=randtrimwrite"), (Direction::TrimWrite, Access::Permuted));
}

#[test]
fn trims_have_the_third_of_three_values() {
    let of = |args: &str| {
        let plan = planned(&format!("--name=a --size=16m --bs=4k,8k,16k --rate_iops=1,2,3 {args}"));
        let s = stream(&plan.workload, 0, 0).clone();
        (s.record, s.pace.rate.map(|rate| rate.operations_per_s))
    };
    let size = |bytes| Record::Fixed(fathom_workload::Bytes(bytes));
    assert_eq!(of("--rw=read"), (size(4096), Some(1.0)));
    assert_eq!(of("--rw=write"), (size(8192), Some(2.0)));
    assert_eq!(of("--rw=randtrim"), (size(16384), Some(3.0)));
    let both = planned("--name=a --size=16m --bs=4k,8k,16k --rw=trimwrite");
    assert_eq!(stream(&both.workload, 0, 0).record, size(16384));
}

#[test]
fn block_sizes() {
    use fathom_workload::Bytes;
    let of =
        |args: &str| stream(&planned(&format!("--name=a --size=16m {args}")).workload, 0, 0).record.clone();
    assert_eq!(of("--bs=4k,8k --rw=write"), Record::Fixed(Bytes(8192)));
    assert_eq!(of("--bs=,8k --rw=read"), Record::Fixed(Bytes(4096)));
    assert_eq!(of("--bsrange=8k-4k"), Record::Between { min: Bytes(4096), max: Bytes(8192) });
    assert_eq!(of("--bssplit=4k/10:8k/90"), Record::Split(vec![(Bytes(4096), 10.0), (Bytes(8192), 90.0)]));
    assert_eq!(of("--kb_base=1000 --bs=4k"), Record::Fixed(Bytes(4000)));
    // In a mix, each direction has its own sizes, whichever option sets them.
    let fixed = |bytes| Record::Fixed(Bytes(bytes));
    let by_kind =
        |read: Record, write: Record| Record::ByKind { read: Box::new(read), write: Box::new(write) };
    assert_eq!(of("--rw=randrw --bs=4k,64k"), by_kind(fixed(4096), fixed(65536)));
    assert_eq!(of("--rw=rw --bs=,8k"), by_kind(fixed(4096), fixed(8192)));
    assert_eq!(of("--rw=rw --bs=8k,8k,16k"), fixed(8192));
    let range = Record::Between { min: Bytes(4096), max: Bytes(8192) };
    assert_eq!(of("--rw=rw --bsrange=4k-8k,16k-16k"), by_kind(range, fixed(16384)));
    let split = |list: &[(u64, f64)]| Record::Split(list.iter().map(|s| (Bytes(s.0), s.1)).collect());
    let sizes = by_kind(split(&[(65536, 40.0), (1 << 20, 60.0)]), split(&[(1 << 20, 100.0)]));
    assert_eq!(of("--rw=randrw --bssplit=64k/40:1024k/60,1024k/100"), sizes);
    // Sizes of a direction are multiples of its smallest size, not of the other direction's.
    assert_eq!(of("--rw=rw --bs=4k,6k"), by_kind(fixed(4096), fixed(6144)));
    let why = refused("--name=a --size=16m --rw=rw --bssplit=4k/100,4k/50:6k/50");
    assert!(why.contains("multiples of the smallest"), "{why}");
    assert!(refused("--name=a --size=16m --rw=rw --bs=4k,0").contains("0 bytes"));
    // Conversions between sizes and operation counts need a single block size for each kind.
    assert!(
        refused("--name=a --size=16m --rw=rw --bsrange=4k-8k,8k-16k --rate=1m,1m").contains("one block size")
    );
}

#[test]
fn a_written_and_verified_job_is_read_back() {
    let plan = planned("--name=a --size=1m --rw=write --verify=crc32c --unlink=1");
    assert_eq!(plan.workload.phases.len(), 2);
    assert_eq!(plan.jobs[0].places.len(), 2);
    let back = stream(&plan.workload, 1, 0);
    assert_eq!((back.direction, back.verify), (Direction::Read, fathom_workload::Verify::Full));
    assert!(plan.workload.phases[0].after.is_empty(), "the file is still needed");
    assert_eq!(plan.workload.phases[1].after.len(), 1);
    assert_eq!(planned("--name=a --size=1m --rw=write --verify=md5 --do_verify=0").workload.phases.len(), 1);
    assert_eq!(planned("--name=a --size=1m --rw=write --verify=md5 --verify_only").workload.phases.len(), 1);
}

#[test]
fn what_is_not_supported_says_why_and_what_is() {
    let cases = [
        "--name=a --size=1m --rw=trimwrite --rate_iops=5",
        "--name=a --size=1m --rw=randread --bsrange=1k-4k --zonesize=2k --zoneskip=64k",
        "--name=a --size=1m --rw=rw --bs=4k,8k --verify=md5",
        "--name=a --size=8k --nrfiles=4 --bsrange=1k-4k --rw=randread --norandommap",
        "--name=a --size=1m --ioengine=guasi",
        "--name=a --size=1m --rate=1m --rate_iops=5",
        "--name=a --size=1m --random_distribution=normal:0 --rw=randread",
        "--size=1m --name=a --name=b --name=c --wait_for=a",
        "--name=a --rw=write --filename=/dev/disk",
        "--name=a --rw=write --size=1m --readonly",
        "--name=a --rw=read",
        "--name=a --size=1m --rw=randrw --verify=md5 --verify_backlog=4 --rate_iops=5",
        "--name=a --size=1k --bs=4k",
        "--name=a --size=1m --cpus_allowed=0-",
        "--name=a --size=1m --thinktime=5 --thinktime_spin=9",
    ];
    insta::assert_snapshot!(cases.map(refused).join("\n"));
}

#[test]
fn every_option_that_is_done_is_read() {
    let every = "--name=a --size=1m --rw=randrw --ioengine=io_uring --verify=0";
    let plan = planned(every);
    let mut asked = plan.jobs[0].settings.asked();
    for args in [
        "--name=a --size=1m --rw=randwrite --verify=md5",
        "--name=a --size=1m --rw=randwrite --thinktime=1 --random_distribution=zoned:50/50:50/50",
        "--name=a --size=1m --rw=write --rate=1m --filename=there --time_based",
        "--name=a --size=1m --rw=randread --random_distribution=sequence:1",
        "--name=a --size=1m --rw=randwrite --sprandom=1",
        "--name=a --size=1m --rw=write --zonemode=zbd --zonesize=64k",
        "--name=a --filesize=4k --ioengine=filestat",
        "--name=a --ioengine=cpuio --cpuload=50 --runtime=1",
        "--name=a --ioengine=exec --program=echo --runtime=1",
        "--name=a --ioengine=e4defrag --rw=write --filesize=4k --donorname=d",
    ] {
        asked.extend(planned(args).jobs[0].settings.asked());
    }
    for row in table::rows().filter(|r| matches!(r.state, table::FioSupport::Done)) {
        assert!(asked.contains(row.name), "{} is called done, and nobody asks for it", row.name);
    }
}

#[test]
fn a_job_as_a_command_line_comes_to_the_same() {
    let first = planned("two.fio --size=1m");
    let line = explain::command(&first);
    let again = planned(line.trim().strip_prefix("fio ").unwrap());
    assert_eq!(
        (&first.workload.phases, &first.workload.filesets),
        (&again.workload.phases, &again.workload.filesets)
    );
}

#[test]
fn the_manual_has_the_table() {
    let manual = include_str!("../../../../docs/fio.md");
    let (text, found) = manual.split_once("<!-- fio-options -->\n").expect("the mark of the table");
    let table = table::markdown();
    if std::env::var_os("FATHOM_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fio.md");
        std::fs::write(path, format!("{text}<!-- fio-options -->\n{table}")).unwrap();
        return;
    }
    assert!(
        found == table,
        "docs/fio.md: FATHOM_BLESS=1 cargo test -p fathom-dialects the_manual_has_the_table"
    );
}

/// Options with mostly valid values.
fn option() -> impl Strategy<Value = String> {
    let word = |name: &'static str, values: &'static [&'static str]| {
        prop::sample::select(values).prop_map(move |v| format!("--{name}={v}")).boxed()
    };
    prop_oneof![
        word("rw", &["read", "write", "randread", "randwrite", "rw", "randrw"]),
        word("bs", &["4k", "8k", "512", "4k,4k"]),
        word("bssplit", &["4k/50:8k/50", "4k/10:16k"]),
        word("bsrange", &["4k-16k", "8k:4k"]),
        word(
            "ioengine",
            &[
                "psync", "sync", "pvsync2", "libaio", "io_uring", "mmap", "null", "vsync", "posixaio",
                "splice", "falloc"
            ]
        ),
        word("iodepth", &["1", "4", "128"]),
        word("numjobs", &["1", "3"]),
        word("direct", &["0", "1"]),
        word("runtime", &["5", "100ms"]),
        word("io_size", &["1m", "36k"]),
        word("loops", &["2", "10000"]),
        word("number_ios", &["1", "777"]),
        word("offset", &["4k", "1m"]),
        word("offset_increment", &["1m"]),
        word("fsync", &["1", "32"]),
        word("rate_iops", &["100", "300,100"]),
        word("rate_process", &["poisson"]),
        word("thinktime", &["10", "1ms"]),
        word("verify", &["crc32c", "0"]),
        word("random_distribution", &["zipf:1.1", "pareto:0.2", "zoned:60/10:40/90", "random"]),
        word("invalidate", &["0", "1"]),
        word("fallocate", &["none", "native"]),
        word("name", &["b", "c"]),
        Just("--time_based".to_owned()),
        Just("--norandommap".to_owned()),
        Just("--stonewall".to_owned()),
        Just("--new_group".to_owned()),
        Just("--end_fsync=1".to_owned()),
        Just("--overwrite=1".to_owned()),
        Just("--refill_buffers".to_owned()),
        Just("--zero_buffers".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_workload_survives_its_text(options in prop::collection::vec(option(), 0..9)) {
        let mut args = vec!["--size=16m".to_owned(), "--name=a".to_owned()];
        args.extend(options);
        if let Ok(Invocation::Jobs(plan)) = plan(&args, &world()) {
            let text = plan.workload.to_toml().unwrap();
            prop_assert_eq!(Workload::from_toml(&text).unwrap(), plan.workload);
        }
    }

    #[test]
    fn no_words_panic(args in prop::collection::vec(prop_oneof![option(), ".*", "--?[a-z_]{1,9}(=[0-9a-z:,/%-]{0,9})?"], 0..6)) {
        let _ = plan(&args, &world());
    }
}

/// An option word chosen from a list, or none.
fn some_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::option::of(prop::sample::select(words))
        .prop_map(|word| word.map_or_else(String::new, str::to_owned))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// A planned job printed as text reads back as the same job.
    #[test]
    fn jobs_survive_the_native_format(
        words in (
            some_of(&["--rw=read", "--rw=randread", "--rw=write", "--rw=randrw", "--rw=rw"]),
            some_of(&["--bs=4k", "--bsrange=1k-16k", "--bssplit=4k/10:64k/50:32k/40", "--bs=512"]),
            some_of(&["--size=1m", "--size=50%", "--filesize=2m", "--size=64k --io_size=1m"]),
            some_of(&["--ioengine=null", "--ioengine=libaio --iodepth=8", "--ioengine=io_uring --fixedbufs", "--ioengine=mmap", "--ioengine=sync"]),
            some_of(&["--filename=there", "--filename=a:b --file_service_type=sequential", "--directory=d --numjobs=3"]),
            some_of(&["--offset=33%", "--offset_increment=10% --numjobs=2", "--offset=4k"]),
            some_of(&["--buffer_pattern=0xdead\"ab\"-12", "--zero_buffers", "--buffer_compress_percentage=40", "--verify=crc32c"]),
        ),
        more in (
            some_of(&["--rate_iops=100", "--thinktime=1ms", "--rate=1m --rate_process=poisson"]),
            some_of(&["--runtime=5 --time_based", "--runtime=5", "--loops=3", "--number_ios=7"]),
            some_of(&["--norandommap", "--random_distribution=zipf:1.2", "--random_distribution=zoned:60/10:30/20:8/30:2/40"]),
            some_of(&["--direct=1", "--sync=dsync", "--fsync=4 --end_fsync=1", "--invalidate=0", "--pre_read=1"]),
            some_of(&["--exitall", "--exitall_on_error", "--ramp_time=1", "--startdelay=1", "--name=b --stonewall --size=1m"]),
            some_of(&["--write_bw_log --log_avg_msec=100", "--write_lat_log=x --log_avg_msec=700"]),
        ),
    ) {
        let (a, b, c, d, e, f, g) = words;
        let (h, i, j, k, l, m) = more;
        let line = ["--name=a".to_owned(), a, b, c, d, e, f, g, h, i, j, k, m, l].join(" ");
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match plan(&args, &world()) {
            Ok(Invocation::Jobs(plan)) => {
                let text = plan.workload.to_toml().map_err(|e| TestCaseError::fail(format!("{line}: {e}")))?;
                let again = Workload::from_toml(&text).map_err(|e| TestCaseError::fail(format!("{line}: {e}\n{text}")))?;
                prop_assert_eq!(again, plan.workload);
            }
            Ok(Invocation::Help(help)) => prop_assert!(false, "{:?}", help),
            Ok(Invocation::Nothing(_) | Invocation::Inflate(_)) => {}
            // Not every combination is valid; errors must have a message.
            Err(wrong) => prop_assert!(!wrong.message.is_empty()),
        }
    }
}
