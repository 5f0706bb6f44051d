//! The twelve read tests of 2004 on small plain files of a read-only mount, in the form of the page they were published on.

use crate::dropin_filebench::script::write;
use fathom_testkit::{Fathom, LoopFs, mask_squeeze};

const HEAD: &str = "set $dir=MOUNT\nset $nthreads=4\neventgen rate=0\n\
    define file name=largefile1,path=$dir,size=4m,reuse,prealloc,readonly\n\
    define file name=largefile2,path=$dir,size=4m,reuse,prealloc,readonly\n\
    define file name=largefile3,path=$dir,size=4m,reuse,prealloc,readonly\n";

fn random() -> String {
    let process = |p: &str, t: &str, file: u32| {
        format!(
            "define process name={p} {{ thread name={t},memsize=5m,instances=$nthreads {{\n\
             flowop read name=rand-read1,filename=largefile{file},iosize=$iosize,random flowop eventlimit name=rand-rate }} }}\n"
        )
    };
    process("rand-a", "ra", 1) + &process("rand-b", "rb", 2)
}

fn streams(count: u32) -> String {
    let threads: String = (1..=count)
        .map(|n| {
            let name = if count == 1 { "seqread".to_owned() } else { format!("seqread{n}") };
            format!(
                "thread name={name},memsize=10m {{ flowop read name={name},filename=largefile{n},iosize=$iosize flowop bwlimit name=limit }}\n"
            )
        })
        .collect();
    format!("define process name=seqread {{\n{threads}}}\n")
}

fn mixed() -> String {
    let thread = |name: &str, flowop: &str, file: u32, io: &str, limit: &str| {
        format!(
            "thread name={name},memsize=10m {{ flowop read name={flowop},filename=largefile{file},{io} flowop {limit} }}\n"
        )
    };
    let (rate, limit) = ("eventlimit name=rand-rate", "bwlimit name=limit");
    format!(
        "define process name=mixed {{\n{}{}{}{}{}}}\n",
        thread("r1", "rand-read1", 1, "iosize=2k,random", rate),
        thread("r2", "rand-read1", 2, "iosize=2k,random", rate),
        thread("s1", "seqread", 1, "iosize=8k", limit),
        thread("s2", "seqread1", 2, "iosize=1m", limit),
        thread("r3", "rand-read2", 3, "iosize=1m,random", rate),
    )
}

/// Name, size, body, and the rows in the order of the page.
fn tests() -> Vec<(String, &'static str, String, Vec<&'static str>)> {
    let random_rows = || vec!["rand-rate", "rand-read1", "rand-rate", "rand-read1"];
    let mut all = Vec::new();
    for size in ["2k", "8k", "32k", "64k", "1m"] {
        all.push((format!("randomread{size}"), size, random(), random_rows()));
    }
    for size in ["8k", "32k", "1m"] {
        all.push((format!("singlestreamread{size}"), size, streams(1), vec!["limit", "seqread"]));
    }
    for size in ["8k", "32k", "1m"] {
        let rows = vec!["limit", "seqread3", "limit", "seqread2", "limit", "seqread1"];
        all.push((format!("multistreamread{size}"), size, streams(3), rows));
    }
    let rows = vec![
        "rand-rate",
        "rand-read2",
        "limit",
        "seqread1",
        "limit",
        "seqread",
        "rand-rate",
        "rand-read1",
        "rand-rate",
        "rand-read1",
    ];
    all.push(("mixedread".into(), "2k", mixed(), rows));
    all
}

#[test]
fn the_twelve_tests_run_on_a_read_only_mount() {
    let Some(mount) = LoopFs::ext4("the_twelve_tests_run_on_a_read_only_mount").mebibytes(32).mount() else {
        return;
    };
    let data: Vec<u8> = (0..4u32 << 20).map(|n| (n ^ (n >> 9)) as u8).collect();
    for n in 1..=3 {
        std::fs::write(mount.path().join(format!("largefile{n}")), &data).unwrap();
    }
    mount.remount_read_only();
    let fathom = Fathom::new();
    let head = HEAD.replace("MOUNT", &mount.path().display().to_string());
    let tests = tests();
    assert_eq!(tests.len(), 12);
    for (name, size, body, expected) in tests {
        write(&fathom, &format!("{name}.f"), &format!("{head}set $iosize={size}\n{body}run 1\n"));
        let outcome = fathom.run_line(&format!("filebench -f {name}.f --seed-format")).expect_code(0);
        let (_, page) = outcome
            .stdout
            .split_once("Flowop totals:\n")
            .unwrap_or_else(|| panic!("{name}: {}", outcome.stdout));
        let lines: Vec<&str> = page.lines().collect();
        let names: Vec<&str> = lines[..expected.len()].iter().map(|l| l.split(' ').next().unwrap()).collect();
        assert_eq!(names, expected, "{name}: {page}");
        assert!(lines[expected.len()].is_empty(), "{name}: {page}");
        for line in &lines[..expected.len()] {
            let masked = mask_squeeze(&line[20..]);
            assert_eq!(masked.trim_start(), "#ops/s #mb/s #ms/op #us/op-cpu", "{name}: {line}");
        }
        // The oldest of one name has the figures; limits without a rate count nothing.
        let rate = |line: &str| {
            line[20..].trim_start().split("ops/s").next().unwrap().trim().parse::<f64>().unwrap()
        };
        assert!(rate(lines[expected.len() - 1]) > 0.0, "{name}: {page}");
        assert!(
            names
                .iter()
                .zip(&lines)
                .filter(|(n, _)| matches!(**n, "limit" | "rand-rate"))
                .all(|(_, l)| rate(l) == 0.0)
        );
        let summary = lines[expected.len() + 1];
        assert_eq!(
            mask_squeeze(summary),
            "IO Summary: # ops # ops/s, #/# r/w #mb/s, #uscpu/op",
            "{name}: {summary}"
        );
        assert_eq!(summary.find("ops "), Some("IO Summary:      12345678 ".len()), "{name}: {summary}");
    }
}
