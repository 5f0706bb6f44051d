//! Habits of people who write jobs: titles in the global section, dashes that are forgotten, logs of one name for many jobs, iologs by
//! hand. One small test for each; the values are those of fio 3.42, or of fio 3.33 where the other one cannot do it.

use crate::fio::support::{json, run};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A directory with these files, and the program in it.
fn with(files: &[(&str, &str)]) -> (TestDir, Fathom) {
    let dir = TestDir::new();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let fathom = Fathom::new().working_in(dir.path());
    (dir, fathom)
}

fn jobs(document: &Value) -> &Vec<Value> {
    document["jobs"].as_array().expect("a list of jobs")
}

fn ios(job: &Value, kind: &str) -> u64 {
    job[kind]["total_ios"].as_u64().expect("a count")
}

/// File, kind and offset of every operation of an iolog.
fn operations(directory: &Path, log: &str) -> Vec<(String, String, u64)> {
    let text = fs::read_to_string(directory.join(log)).unwrap();
    let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of = |w: Vec<&str>| (w[1].to_owned(), w[2].to_owned(), w[3].parse().unwrap());
    words.filter(|w| w.len() == 5 && w[2] != "wait").map(of).collect()
}

#[test]
fn one_kind_may_be_random_and_the_other_in_a_row() {
    let (dir, fathom) = with(&[]);
    for (shares, random, in_a_row) in [("100,0", "read", "write"), ("0,100", "write", "read")] {
        let line = format!(
            "--name=a --filename=f --rw=randrw --percentage_random={shares} --size=512k --bs=4k --write_iolog={in_a_row}.log"
        );
        json(&fathom, &line);
        let all = operations(dir.path(), &format!("{in_a_row}.log"));
        let of = |kind: &str| -> Vec<u64> { all.iter().filter(|o| o.1 == kind).map(|o| o.2).collect() };
        assert!(of(in_a_row).iter().enumerate().all(|(n, at)| *at == n as u64 * 4096), "{shares}: {all:?}");
        assert!(of(random).len() > 30 && !of(random).is_sorted(), "{shares}: {all:?}");
    }
}

#[test]
fn a_name_keeps_its_blanks() {
    let (_dir, fathom) = with(&[("j.fio", "[ b  (2) ]\nsize=8k\n[c]\nname=  d\nsize=8k\n")]);
    let names = |args: &[&str]| -> Vec<String> {
        let text =
            fathom.run(["fio", "--ioengine=null", "--minimal"].iter().chain(args)).expect_code(0).stdout;
        text.lines().map(|line| line.split(';').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--name=  a  (1)", "--size=8k"]), ["  a  (1)"]);
    assert_eq!(names(&["j.fio"]), [" b  (2) ", "  d"]);
}

#[test]
fn a_title_in_the_global_section_names_no_job() {
    let title = "8k  reads / 2 threads at 100%";
    let text = format!("[global]\nname={title}\nsize=16k\n[one]\n[two]\nstonewall\n");
    let (dir, fathom) = with(&[("j.fio", &text)]);
    let document = json(&fathom, "j.fio");
    let names: Vec<&str> = jobs(&document).iter().filter_map(|job| job["jobname"].as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(document["global options"]["name"], title);
    assert_eq!(dir.names(), ["j.fio", "one.0.0", "two.0.0"]);
}

#[test]
fn every_clone_draws_its_delay() {
    let (_dir, fathom) = with(&[("j.fio", "[a]\nioengine=null\nsize=4k\nnumjobs=4\nstartdelay=0:800ms\n")]);
    for line in ["j.fio", "--name=a --ioengine=null --size=4k --numjobs=4 --startdelay=0-800ms"] {
        let document = json(&fathom, line);
        let begun: Vec<u64> = jobs(&document).iter().filter_map(|job| job["job_start"].as_u64()).collect();
        let spread = begun.iter().max().unwrap() - begun.iter().min().unwrap();
        assert!(spread >= 50, "{line}: {begun:?} ms");
    }
    run(&fathom, "--name=a --size=4k --startdelay=1-x").expect_code(1).expect_stderr("\"x\" is not a time");
}

#[test]
fn suffixes_mean_what_they_say_with_a_base_of_1000() {
    let text = "[global]\nkb_base=1000\n[a]\nfilesize=256KiB\nnrfiles=2\nnumjobs=2\nbs=64KiB\nrw=write\n\
                openfiles=1\ngroup_reporting=1\nthread=3\n";
    let (dir, fathom) = with(&[("j.fio", text)]);
    let document = json(&fathom, "j.fio");
    assert_eq!(
        (ios(&document["jobs"][0], "write"), &document["jobs"][0]["write"]["io_bytes"]),
        (16, &(1 << 20).into())
    );
    for name in ["a.0.0", "a.0.1", "a.1.0", "a.1.1"] {
        assert_eq!(fs::metadata(dir.path().join(name)).unwrap().len(), 256 << 10, "{name}");
    }
}

#[test]
fn what_one_call_writes_to_many_files_the_next_one_checks() {
    let (dir, fathom) = with(&[]);
    let line = "--name=t --rw=randwrite --bsrange=4k-16k --verify=meta --verify_pattern=0x1234abcd --verify_interval=4k \
                --filesize=128k --nrfiles=5 --openfiles=2 --directory=. --filename_format=v.$filenum.$jobnum";
    json(&fathom, &format!("{line} --do_verify=0"));
    for n in 0..5 {
        assert_eq!(fs::metadata(dir.path().join(format!("v.{n}.0"))).unwrap().len(), 128 << 10);
    }
    let document = json(&fathom, &format!("{line} --verify_only=1"));
    assert_eq!(document["jobs"][0]["read"]["io_bytes"], 5 * (128 << 10));
    let mut bytes = fs::read(dir.path().join("v.3.0")).unwrap();
    bytes[32768..32772].fill(b'X');
    fs::write(dir.path().join("v.3.0"), bytes).unwrap();
    run(&fathom, &format!("{line} --verify_only=1")).expect_code(1).expect_stderr("v.3.0 offset 32768");
    // A blank is missing: what is behind the number is dropped.
    json(&fathom, &format!("{line} --do_verify=0 --zonesize=64k--zoneskip=4k"));
}

#[test]
fn of_files_that_take_turns_one_at_a_time_each_is_read_to_its_end() {
    let text = "[a]\nrw=read\nnrfiles=3    ; three files\nopenfiles=1  # one of them open\nsize=48k     ; 16k each\nbs=4k\n\
                file_service_type=roundrobin:1\nfilename_format=in/part.$filenum\nwrite_iolog=w.log\n";
    let (dir, fathom) = with(&[("j.fio", text)]);
    json(&fathom, "j.fio");
    let read: Vec<(String, u64)> = operations(dir.path(), "w.log").into_iter().map(|o| (o.0, o.2)).collect();
    let expected = (0..3).flat_map(|file| (0..4).map(move |n| (format!("in/part.{file}"), n * 4096)));
    assert_eq!(read, expected.collect::<Vec<_>>());
}

/// fio lets one of them read, and the others end immediately.
#[test]
fn clones_that_share_files_by_their_names_all_work() {
    let (dir, fathom) = with(&[]);
    let line =
        "--name=a --nrfiles=3 --filename_format=$filenum --size=48k --numjobs=5 --runtime=1 --time_based";
    let document = json(&fathom, line);
    assert_eq!(jobs(&document).len(), 5);
    for job in jobs(&document) {
        assert!(ios(job, "read") > 0 && job["read"]["runtime"].as_u64() > Some(900), "{}", job["read"]);
    }
    assert_eq!(dir.names(), ["0", "1", "2"]);
    for name in dir.names() {
        assert_eq!(fs::metadata(dir.path().join(name)).unwrap().len(), 16 << 10);
    }
}

#[test]
fn a_tree_of_others_is_read_by_a_mix_that_writes_nothing() {
    let (dir, fathom) = with(&[]);
    let tree = dir.subdir("tree");
    for n in 0..40 {
        fs::write(tree.join(format!("f{n}")), [n; 8192]).unwrap();
    }
    let mut rights = fs::metadata(tree.join("f7")).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(tree.join("f7"), rights).unwrap();
    let changed = || -> Vec<_> {
        (0..40).map(|n| fs::metadata(tree.join(format!("f{n}"))).unwrap().modified().unwrap()).collect()
    };
    let before = changed();
    let line = "--name=m --opendir=tree --rw=randrw --bs=4k --numjobs=2 --group_reporting";
    let document = json(&fathom, &format!("{line} --rwmixread=100"));
    assert_eq!((ios(&document["jobs"][0], "read"), ios(&document["jobs"][0], "write")), (160, 0));
    run(&fathom, &format!("{line} --rwmixread=0")).expect_code(1).expect_stderr("was not made by fathom");
    assert_eq!(changed(), before);
}

#[test]
fn shares_of_a_size_are_those_of_the_whole_file() {
    let (dir, fathom) = with(&[]);
    fs::write(dir.path().join("f"), vec![0; 40 << 10]).unwrap();
    let parts = "--name=a --size=20% --offset=0 --buffer_pattern=0x11 --name=b --size=40% --offset=8k --buffer_pattern=0x22 \
                 --name=c --size=100% --offset=36k --buffer_pattern=0x33";
    let document = json(&fathom, &format!("--allow-write=f --stonewall --filename=f --rw=write {parts}"));
    let writes: Vec<u64> = jobs(&document).iter().map(|job| ios(job, "write")).collect();
    assert_eq!(writes, [2, 4, 1]);
    let expected =
        [vec![0x11; 8 << 10], vec![0x22; 16 << 10], vec![0; 12 << 10], vec![0x33; 4 << 10]].concat();
    assert!(fs::read(dir.path().join("f")).unwrap() == expected);
}

/// fio counts what the ramp does, and ends in it.
#[test]
fn a_warm_up_takes_nothing_from_what_is_measured() {
    let (dir, fathom) = with(&[]);
    let line = "--name=a --ioengine=null --size=1m --io_size=64k --bs=4k --ramp_time=300ms --percentile_list=50:99.9:100 \
                --write_lat_log=a";
    let begun = std::time::Instant::now();
    let document = json(&fathom, line);
    assert!(begun.elapsed().as_millis() >= 300);
    let read = &document["jobs"][0]["read"];
    assert_eq!((&read["total_ios"], &read["clat_ns"]["N"]), (&16.into(), &16.into()));
    let percentiles: Vec<&String> = read["clat_ns"]["percentile"].as_object().unwrap().keys().collect();
    assert_eq!(percentiles, ["100.000000", "50.000000", "99.900000"]);
    assert_eq!(fs::read_to_string(dir.path().join("a_lat.1.log")).unwrap().lines().count(), 16);
}

#[test]
fn an_empty_place_leaves_its_direction_as_it_is() {
    let (_dir, fathom) = with(&[]);
    let line = "--name=a --ioengine=null --rw=randrw --size=1g --bssplit=8k/60:16k/40,, --norandommap --rwmixread=90 \
                --rate_iops=450,50, --rate_process=poisson --runtime 1 --time_based --output-format=normal,json";
    let text = run(&fathom, line).expect_code(0).stdout;
    assert!(text.contains("bs=(R) 8192B-16.0KiB, (W) 4096B-4096B, (T) 4096B-4096B"), "{text}");
    let document: Value =
        serde_json::from_str(&text[text.find("{\n").unwrap()..text.rfind('}').unwrap() + 1]).unwrap();
    let job = &document["jobs"][0];
    let bytes = |kind: &str| job[kind]["io_bytes"].as_u64().unwrap();
    assert!((330..570).contains(&ios(job, "read")) && (15..95).contains(&ios(job, "write")), "{job}");
    assert_eq!(bytes("write"), ios(job, "write") * 4096);
    assert!((8192..16384).contains(&(bytes("read") / ios(job, "read"))), "{job}");
}

#[test]
fn the_bandwidth_of_all_clones_is_one_log() {
    for clones in [7, 8] {
        let (dir, fathom) = with(&[]);
        let line = "--name=a --ioengine=null -bs=4K -size=16MB -rw=write --rate_iops=500 --runtime=1 --time_based --bandwidth-log";
        json(&fathom, &format!("{line} --numjobs={clones}"));
        assert_eq!(dir.names(), ["agg-read_bw.log", "agg-trim_bw.log", "agg-write_bw.log"]);
        let log = fs::read_to_string(dir.path().join("agg-write_bw.log")).unwrap();
        let of = |line: &str| -> u64 { line.split(", ").nth(1).unwrap().parse().unwrap() };
        let told: Vec<u64> = log.lines().filter(|line| line.contains(", 1, 0, 0")).map(of).collect();
        let mean = told.iter().sum::<u64>() / told.len().max(1) as u64;
        // Of each 500 times 4 KiB.
        let expected = clones * 2000;
        assert!((expected / 2..=expected * 2).contains(&mean), "{log}");
    }
}

/// fio calls some of these blocks wrong.
#[test]
fn zones_sizes_and_times_go_with_verification() {
    let (_dir, fathom) = with(&[]);
    let line = "--name=a --size=512k --bsrange=4Ki-16Ki --verify=crc32c --verify_interval=4096 --verify_fatal=1 \
                --random_distribution=zoned:20/10:30/30:50/60";
    let timed =
        "--rw=randrw --ioengine=libaio --iodepth=16 --serialize_overlap=1 --runtime=500ms --time_based";
    let text = run(&fathom, &format!("{line} {timed}")).expect_code(0).stdout;
    assert!(text.contains("(W) 4096B-16.0KiB"), "{text}");
    for seed in 1..=4 {
        run(&fathom, &format!("{line} --rw=randwrite --randseed={seed}")).expect_code(0);
    }
}

#[test]
fn a_command_runs_before_each_job_that_waits_for_the_previous_one() {
    let jobs = ["a", "b", "c"]
        .map(|name| format!("[{name}]\n# specs: 2.2MB/s\nbs=16k\nwait_for_previous=1\n"))
        .concat();
    let text = format!("[global]\nsize=64k\nnumjobs=2\ngroup_reporting=1\nexec_prerun=echo ready\n{jobs}");
    let (dir, fathom) = with(&[("j.fio", &text)]);
    let told = run(&fathom, "j.fio").expect_code(0).stdout;
    for (n, name) in ["a", "b", "c"].iter().enumerate() {
        assert!(told.contains(&format!("{name}: (groupid={n}, jobs=2)")), "{told}");
        assert_eq!(fs::read_to_string(dir.path().join(format!("{name}.prerun.txt"))).unwrap(), "ready\n");
    }
}

/// The last write is synced if a partial block remains after it.
#[test]
fn a_rest_that_is_no_block_is_not_written_and_what_is_before_it_is_synced() {
    let (dir, fathom) = with(&[]);
    for (size, syncs) in [("50000", 16), ("48000", 15)] {
        let line = format!(
            "--name=a --filename={size} --rw=write --ioengine=sync --fdatasync=1 --size={size} --bs=3000"
        );
        let text = run(&fathom, &format!("{line} --output-format=normal,json")).expect_code(0).stdout;
        for words in
            ["fsync/fdatasync/sync_file_range", "    sync (", "    sync percentiles (", "| 99.00th=["]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        let document: Value =
            serde_json::from_str(&text[text.find("{\n").unwrap()..text.rfind('}').unwrap() + 1]).unwrap();
        let job = &document["jobs"][0];
        assert_eq!((ios(job, "write"), ios(job, "sync")), (16, syncs), "{size}");
        assert!(job["sync"]["lat_ns"]["percentile"]["99.000000"].is_u64());
        assert_eq!(job["iodepth_submit"]["4"], 100.0);
        assert_eq!(fs::metadata(dir.path().join(size)).unwrap().len().to_string(), size);
    }
}

#[test]
fn who_forgets_dashes_is_told_so() {
    for (word, hint) in [
        ("name=x", "--name=x?"),
        ("numjobs=4", "--numjobs=4?"),
        ("/dev/zero", "--filename=/dev/zero?"),
        ("/dev/urandom", "--filename=/dev/urandom?"),
    ] {
        let (dir, fathom) = with(&[]);
        run(&fathom, &format!("--name=a --rw=randwrite --size=64k {word}"))
            .expect_code(1)
            .expect_stderr(&format!("fio: unable to open '{word}' job file"))
            .expect_stderr(hint);
        assert!(dir.names().is_empty(), "{word}");
    }
}

#[test]
fn what_showcmd_prints_means_the_same() {
    let text = "[global]\nrate_iops=100\ndescription=it's \"one\" of $2 `x`; cut here\n[a b]\nsize=4k\n[global]\nbs=8k\n[c]\nsize=16k\nfilename=d e\n";
    let (dir, fathom) = with(&[("j.fio", text)]);
    let shown = run(&fathom, "--showcmd j.fio").expect_code(0).stdout;
    let line = shown.trim_end().strip_prefix("fio ").expect("one line");
    let words =
        std::process::Command::new("sh").args(["-c", &format!("printf '%s\\n' {line}")]).output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("--description=it's \"one\" of $2 `x`\n"), "{words}");
    let again = fathom.run(["fio", "--showcmd"].into_iter().chain(words.lines())).expect_code(0).stdout;
    assert_eq!(again, shown);
    // What comes first in a plan is the command that it is of.
    let plan = |text: String| {
        text.lines().filter(|line| !line.starts_with("note = ")).collect::<Vec<_>>().join("\n")
    };
    let first = plan(run(&fathom, "--check j.fio").expect_code(0).stdout);
    let second = fathom.run(["fio", "--check"].into_iter().chain(words.lines())).expect_code(0).stdout;
    assert_eq!(plan(second), first);
    assert_eq!(dir.names(), ["j.fio"]);
}

#[test]
fn iologs_written_by_hand_are_read() {
    let reopened =
        "fio version 2 iolog\no add\no open\no write 0 4096\no close\no open\no write 4096 4096\no close\n";
    for (log, reads, writes) in [
        ("fio version 3 iolog\n5 /dev/none1n1 read 1000 8192\n".to_owned(), 1, 0),
        ("fio version 3 iolog\n0 o add\n0 o open\n5 o write 1000 512\n9 o read 0 512".to_owned(), 1, 1),
        (reopened.to_owned(), 0, 2),
        (reopened.replace('\n', "\r\n"), 0, 2),
        (reopened.trim_end().to_owned(), 0, 2),
        (reopened.replacen("o open\n", "o open\n\n", 1), 0, 2),
    ] {
        let (dir, fathom) = with(&[("l.log", &log)]);
        let document = json(&fathom, "--name=a --ioengine=sync --read_iolog=l.log --replay_redirect=f");
        let job = &document["jobs"][0];
        assert_eq!((ios(job, "read"), ios(job, "write")), (reads, writes), "{log}");
        assert_eq!(dir.names(), ["f", "l.log"], "{log}");
    }
}

#[test]
fn both_directions_of_a_window_have_its_time_and_keep_their_rates() {
    let (dir, fathom) = with(&[]);
    let line = "--name=a --ioengine=null --rw=randrw --rwmixread=90 --size=1g --norandommap --ramp_time=200ms --runtime=1200ms \
                --time_based --rate_iops=300,100 --log_avg_msec=400 --write_iops_log=a";
    let document = json(&fathom, line);
    let (reads, writes) = (ios(&document["jobs"][0], "read"), ios(&document["jobs"][0], "write"));
    assert!((200..=400).contains(&reads) && (60..=133).contains(&writes), "{reads} {writes}");
    let log = fs::read_to_string(dir.path().join("a_iops.1.log")).unwrap();
    let rows: Vec<Vec<u64>> =
        log.lines().map(|line| line.split(", ").map(|n| n.parse().unwrap()).collect()).collect();
    assert!(rows.len() >= 4 && rows.len().is_multiple_of(2), "{log}");
    for (n, pair) in rows.chunks(2).enumerate() {
        assert_eq!((pair[0][0], pair[0][2], pair[1][2]), (pair[1][0], 0, 1), "{log}");
        assert!(pair[0][0] == 400 * (n as u64 + 1) || n == rows.len() / 2 - 1, "{log}");
    }
}

#[test]
fn jobs_in_turn_may_have_logs_of_one_name() {
    let text = "[global]\nioengine=null\nsize=64k\nbs=8k\nwrite_iops_log=x\nwrite_lat_log=x\n[a]\nstonewall\n[b]\nstonewall\nbs=4k\n";
    let (dir, fathom) = with(&[("j.fio", text)]);
    let lines = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap().lines().count();
    run(&fathom, "--per_job_logs=0 j.fio").expect_code(0);
    for name in ["x_iops.log", "x_lat.log", "x_clat.log"] {
        assert_eq!(lines(name), 8 + 16, "{name}");
    }
    run(&fathom, "j.fio").expect_code(0);
    for (name, count) in [("x_iops.1.log", 8), ("x_iops.2.log", 16), ("x_lat.1.log", 8), ("x_lat.2.log", 16)]
    {
        assert_eq!(lines(name), count, "{name}");
    }
}

#[test]
fn a_file_of_another_editor_is_read_or_the_message_says_what_cannot_be_seen() {
    let (_dir, fathom) = with(&[
        ("none.fio", "rw=read\nbs=4k\n\n[a]\nsize=8k\n"),
        ("mark.fio", "\u{feff}[global]\nsize=8k\n[a]\n"),
        ("crlf.fio", "[global]\r\nsize=8k\r\nioengine=null\r\n\r\n[a]\r\nrw=read\r\n"),
    ]);
    let none = run(&fathom, "none.fio").expect_code(1);
    assert!(none.stderr.starts_with("fio: option <rw=read> outside of [] job section\n"), "{}", none.stderr);
    assert!(none.stderr.contains("hint: [global] or [NAME] comes first") && !none.stderr.contains("bs=4k"));
    run(&fathom, "mark.fio").expect_code(1).expect_stderr("a byte order mark");
    let document = json(&fathom, "crlf.fio");
    assert_eq!((ios(&document["jobs"][0], "read"), &document["jobs"][0]["jobname"]), (2, &"a".into()));
}
