//! SIGKILL at a random time, of the program, its workers and guardians, and of the commands that clean up after it.

use crate::measure::workloads::Text;
use crate::sweep::support::{Stand, sweep, workload};
use crate::torture::bystanders::Bystanders;
use crate::torture::campaign::{Random, torture};
use crate::torture::left::{assert_no_process, assert_nothing_left, with_temporary};
use fathom_testkit::iso::Builder;
use fathom_testkit::{Fathom, LoopFs, family};
use std::fs;
use std::path::Path;
use std::time::Duration;

#[test]
fn kills() {
    let name = "kills";
    let stand = Stand::new(name);
    let old = LoopFs::of(fathom_testkit::Kind::OldExt2, name).mount();
    torture(name, |random| trial(random, stand.as_ref(), old.as_ref()));
}

/// What is killed. Those after the first eight need root.
#[derive(Clone, Copy, Debug)]
enum What {
    Workload,
    Iozone,
    Sysbench,
    Filebench,
    Fio,
    Survey,
    Page,
    Import,
    Observed,
    Sweep,
    SweepOfFileSystems,
    CompareRun,
    IsoCompare,
    Mount,
}

const ALL: [What; 14] = [
    What::Workload,
    What::Iozone,
    What::Sysbench,
    What::Filebench,
    What::Fio,
    What::Survey,
    What::Page,
    What::Import,
    What::Observed,
    What::Sweep,
    What::SweepOfFileSystems,
    What::CompareRun,
    What::IsoCompare,
    What::Mount,
];

fn trial(random: &mut Random, stand: Option<&Stand>, old: Option<&LoopFs>) -> u64 {
    let known = if stand.is_some() { &ALL[..] } else { &ALL[..8] };
    let what = *random.of_these(known);
    let turns_knobs = matches!(what, What::Sweep | What::CompareRun);
    let mut fathom = with_temporary(Fathom::new());
    if let (true, Some(stand)) = (turns_knobs, stand) {
        fathom = fathom.working_in(stand.fs.path());
    } else if let (true, Some(old)) = (random.once_in(4), old) {
        fathom = fathom.working_in(old.path());
    }
    let there: Vec<_> = fs::read_dir(fathom.work()).expect("a directory").collect();
    if !there.iter().flatten().any(|entry| entry.file_name() == "-rf") {
        drop(Bystanders::in_(fathom.work()));
    }
    let bystanders = Bystanders::of(fathom.work());
    let words = words(what, &fathom, random);
    let knobs = stand.map(Stand::all);
    let mut pids = vec![kill(&fathom, &words, random, Duration::from_millis(900))];
    let mut kills = 1;
    let next = next(&fathom);
    while random.once_in(3) {
        pids.push(kill(&fathom, &next, random, Duration::from_millis(60)));
        kills += 1;
    }
    // A worker in a call to a busy disk dies when that returns; until then the journal is in use.
    assert_no_process(&fathom);
    let cleaner = fathom.spawn(&next);
    pids.push(cleaner.pid());
    let _ = cleaner.finish().expect_code(0);
    assert_nothing_left(&fathom, &pids, &bystanders, "");
    if let (true, Some(stand), Some(before)) = (turns_knobs, stand, knobs) {
        stand.expect_as_before(&before);
    }
    if matches!(what, What::Import) {
        assert_all_or_nothing(&fathom, &words);
    }
    for path in bystanders.others().iter().filter(|path| !path.ends_with("lost+found")) {
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    kills
}

/// Starts it, and kills it at a random moment: alone, with its group, or with all that it has started.
fn kill(fathom: &Fathom, words: &[String], random: &mut Random, within: Duration) -> u32 {
    let running = fathom.spawn(words);
    let pid = running.pid();
    random.wait(within);
    match random.below(3) {
        0 => running.signal(libc::SIGKILL),
        1 => running.signal_group(libc::SIGKILL),
        _ => {
            // The program last: it does not take leave of the others meanwhile, so that their numbers stay theirs.
            running.signal(libc::SIGSTOP);
            for member in family(pid).into_iter().rev() {
                // SAFETY: kill takes two integers; these are processes of a fathom that this test started and has not waited for.
                unsafe { libc::kill(member.cast_signed(), libc::SIGKILL) };
            }
            running.signal_group(libc::SIGKILL);
        }
    }
    let _ = running.finish();
    pid
}

/// A run elsewhere, so that nothing but journals lead to what was left.
fn next(fathom: &Fathom) -> Vec<String> {
    let text = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).toml();
    let path = fathom.dir().path().join("next.toml");
    fs::write(&path, text).expect("a workload");
    ["run", path.to_str().expect("UTF-8"), "--no-store"].map(str::to_owned).to_vec()
}

/// A killed import has stored nothing, or all that an undisturbed one stores.
fn assert_all_or_nothing(fathom: &Fathom, words: &[String]) {
    let runs = |store: &Path| {
        let listed = fathom.run(["list", "--json", "--store", store.to_str().expect("UTF-8")]);
        serde_json::from_str::<serde_json::Value>(&listed.stdout)
            .ok()
            .and_then(|list| Some(list.as_array()?.len()))
    };
    let kept = runs(&fathom.store()).unwrap_or(0);
    let whole = fathom.dir().path().join("whole.db");
    let store = ["--store", whole.to_str().expect("UTF-8")].map(str::to_owned);
    let _ = fathom.run(words.iter().chain(&store)).expect_code(0);
    assert!(kept == 0 || Some(kept) == runs(&whole), "{kept} of {:?} runs of one import", runs(&whole));
}

fn words(what: What, fathom: &Fathom, random: &mut Random) -> Vec<String> {
    let split = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let home = fathom.dir().path();
    let vary = ["--vary", "read_ahead_kb=0,64", "--vary", "nomerges=2", "--rounds", "2"];
    match what {
        What::Workload => {
            let path =
                Text::new("slow").quick_write(fathom.work()).slow_write(fathom.work(), "").save(fathom);
            vec!["run".into(), path.to_str().expect("UTF-8").into()]
        }
        What::Iozone => split("iozone -s 128k -r 64k -J 100 -t 2 -F a b"),
        What::Sysbench => {
            let stage = *random.of_these(&["prepare", "run", "cleanup"]);
            let line = "sysbench fileio --file-num=8 --file-total-size=4M --file-test-mode=rndrw --time=2";
            if stage != "prepare" {
                let _ = fathom.run_line(&format!("{line} prepare")).expect_code(0);
            }
            split(&format!("{line} {stage}"))
        }
        What::Filebench => {
            let script = format!(
                "define fileset name=mail,path={},entries=200,dirwidth=10,size=1k,prealloc=50\n\
                 define process name=p {{ thread name=t {{\nflowop deletefile name=d,filesetname=mail\n\
                 flowop createfile name=c,filesetname=mail,fd=1\nflowop closefile name=e,fd=1 }} }}\nrun 2\n",
                fathom.work().display()
            );
            fs::write(home.join("w.f"), script).expect("a script");
            split(&format!("filebench -f {}", home.join("w.f").display()))
        }
        What::Fio => split(
            "fio --name=a --rw=randrw --size=4m --bs=4k --numjobs=2 --time_based --runtime=2 --unlink=1",
        ),
        What::Survey => split("survey --quick"),
        What::Page => {
            let path = Text::new("w").quick_write(&fathom.dir().subdir("elsewhere")).save(fathom);
            let _ = fathom.run(["run", path.to_str().expect("UTF-8")]).expect_code(0);
            let name = format!("page.{}", random.of_these(&["html", "xlsx", "csv", "md"]));
            split(&format!("report last -o {name}"))
        }
        What::Import => {
            let one = "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.0123 s, 85.2 MB/s\n";
            let text: String =
                (0..200).map(|_| format!("256+0 records in\n256+0 records out\n{one}")).collect();
            fs::write(home.join("dd.txt"), text).expect("a log");
            split(&format!("import {}", home.join("dd.txt").display()))
        }
        What::Observed => {
            let path =
                Text::new("slow").quick_write(fathom.work()).slow_write(fathom.work(), "").save(fathom);
            split(&format!("run --observe events {}", path.display()))
        }
        What::Sweep => {
            let file = workload(fathom, "stop = { time = \"300ms\" }", "amount = \"endless\"");
            sweep(&vary, &file).into_iter().map(str::to_owned).collect()
        }
        What::SweepOfFileSystems => {
            let file = workload(fathom, "stop = { time = \"300ms\" }", "amount = \"endless\"");
            let images = fathom.dir().subdir("images");
            let images = images.to_str().expect("UTF-8");
            let words = ["--vary", "fs=ext4", "--rounds", "1", "--image-in", images, "--image-size", "32MiB"];
            sweep(&words, &file).into_iter().map(str::to_owned).collect()
        }
        What::CompareRun => {
            let file = workload(fathom, "stop = { time = \"200ms\" }", "amount = \"endless\"");
            split(&format!("compare --run --warm-up 0 --max-quads 1 --vary read_ahead_kb=0,64 {file}"))
        }
        What::IsoCompare | What::Mount => {
            let image = Builder::new().file("a", &vec![7; 200_000]).file("dir/b", &vec![8; 200_000]).build();
            fs::write(home.join("disc.iso"), image.bytes).expect("an image");
            let disc = home.join("disc.iso");
            if matches!(what, What::IsoCompare) {
                let options = "--rounds 1 --loads sequential --amount 200KiB --iops 200";
                split(&format!("iso compare {options} {}", disc.display()))
            } else {
                split(&format!("mount {} {}", disc.display(), fathom.dir().subdir("mnt").display()))
            }
        }
    }
}
