//! Kinds of jobs that people write, each read by fio and by us: what runs here, and what is refused, and by which word. docs/fio.md has
//! the same table.

use crate::support::{fio_is_here, run, theirs};
use fathom_testkit::{Fathom, TestDir};

/// What a job is for, its file, and the word that is refused in it; nothing if it runs.
const KINDS: &[(&str, &str, &str)] = &[
    (
        "random reads, queued",
        "[global]\nioengine=libaio\ndirect=1\nbs=4k\nsize=2m\niodepth=16\n[random]\nrw=randread\n",
        "",
    ),
    (
        "one that writes, many that read",
        "[global]\nbs=4k\nsize=1m\nfilename=shared\n[writer]\nrw=write\n[readers]\nstonewall\nrw=randread\nnumjobs=4\ngroup_reporting\n",
        "",
    ),
    ("a mix, 70 % reads", "[mix]\nrw=randrw\nrwmixread=70\nbs=8k\nsize=2m\n", ""),
    ("a log that is synced", "[log]\nrw=write\nbs=2k\nsize=256k\nfsync=8\n", ""),
    (
        "a database: reads, log",
        "[global]\nsize=2m\n[data]\nrw=randread\nbs=8k\nnumjobs=2\n[log]\nrw=write\nbs=4k\nfdatasync=1\nsize=256k\n",
        "",
    ),
    ("write, then verify", "[v]\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\n", ""),
    (
        "a rate of operations",
        "[r]\nrw=randread\nsize=2m\nrate_iops=2000\nruntime=1\ntime_based\nrate_process=poisson\n",
        "",
    ),
    ("a split of block sizes", "[s]\nrw=randwrite\nbssplit=4k/40:16k/40:64k/20\nsize=4m\n", ""),
    (
        "zones of popularity",
        "[z]\nrw=randread\nsize=4m\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\n",
        "",
    ),
    ("a mapped file", "[m]\nioengine=mmap\nrw=randread\nsize=2m\n", ""),
    (
        "parts of a file for clones",
        "[o]\nrw=write\nfilename=o\nsize=256k\noffset_increment=256k\nnumjobs=4\n",
        "",
    ),
    ("data that compress", "[c]\nrw=write\nsize=1m\nbuffer_compress_percentage=60\nrefill_buffers\n", ""),
    ("a pattern", "[p]\nrw=write\nsize=1m\nbs=64k\nbuffer_pattern=0xdeadbeef\n", ""),
    (
        "logs for a picture",
        "[l]\nrw=randread\nsize=1m\nruntime=1\ntime_based\nrate_iops=1000\nwrite_bw_log\nlog_avg_msec=100\n",
        "",
    ),
    ("files in sequence", "[f]\nrw=read\nnrfiles=8\nsize=1m\nfile_service_type=sequential\n", ""),
    (
        "verify while writing",
        "[v]\nrw=randwrite\nbs=4k\nsize=1m\nverify=md5\nverify_backlog=64\n",
        "verify_backlog",
    ),
    ("a least rate", "[r]\nrw=write\nsize=2m\nrate=4m\nrate_min=1m\n", "rate_min"),
    ("a latency to be kept", "[l]\nrw=randread\nsize=1m\nlatency_target=50000\n", "latency_target"),
    ("a steady state", "[s]\nrw=randread\nsize=1m\nsteadystate=iops:5%\nss_dur=2\n", "steadystate"),
    ("files in turn", "[f]\nrw=read\nnrfiles=8\nsize=1m\n", "roundrobin"),
    ("CPUs of a job", "[c]\nrw=read\nsize=1m\ncpus_allowed=0\n", "cpus_allowed"),
    ("trims", "[t]\nfilename=t\nrw=randtrim\nsize=1m\n", "trims"),
    ("blocks that are left out", "[s]\nrw=read:4k\nsize=1m\n", ""),
    (
        "zones with gaps",
        "[z]\nrw=read\nsize=1m\nzonemode=strided\nzonesize=64k\nzonerange=64k\nzoneskip=64k\n",
        "",
    ),
    ("a replay", "[r]\nread_iolog=trace.log\n", "read_iolog"),
    ("splice", "[s]\nioengine=splice\nrw=read\nsize=1m\n", "splice"),
    ("POSIX AIO", "[p]\nioengine=posixaio\nrw=randread\nsize=1m\niodepth=4\n", "posixaio"),
    ("a flow between jobs", "[global]\nsize=1m\nrw=read\nflow_id=1\n[a]\nflow=8\n[b]\nflow=-1\n", "flow_id"),
];

#[test]
fn kinds_of_jobs_run_or_are_refused_by_name() {
    let manual = include_str!("../../../../docs/fio.md");
    let here = fio_is_here("kinds_of_jobs_run_or_are_refused_by_name");
    for (kind, text, word) in KINDS {
        let row = match *word {
            "" => format!("| {kind} | runs |"),
            word => format!("| {kind} | refused: `{word}` |"),
        };
        assert!(manual.contains(&row), "docs/fio.md lacks: {row}");
        let dir = TestDir::new();
        std::fs::write(dir.path().join("j.fio"), text).unwrap();
        if here {
            assert!(theirs(dir.path(), "--parse-only j.fio").status.success(), "fio reads {kind}");
        }
        let fathom = Fathom::new().working_in(dir.path());
        if word.is_empty() {
            run(&fathom, "j.fio").expect_code(0);
        } else {
            run(&fathom, "j.fio").expect_code(1).expect_stderr(word);
        }
    }
}
