//! A file system whose calls fail at random: the result is a reported error, never a panic, a hang or a false success.

use crate::measure::workloads::Text;
use crate::torture::bystanders::Bystanders;
use crate::torture::campaign::{Random, torture};
use crate::torture::left::{assert_nothing_left, with_temporary};
use fathom_testkit::fault_fs::{Call, Fault};
use fathom_testkit::{Fathom, FaultFs};
use std::fs;

#[test]
fn faults() {
    if FaultFs::mount("faults").is_some() {
        torture("faults", |random| trial(random, &FaultFs::mount("faults").expect("as before")));
    }
}

fn trial(random: &mut Random, disk: &FaultFs) -> u64 {
    let fathom = with_temporary(Fathom::new().working_in(disk.path()));
    drop(Bystanders::in_(disk.path()));
    let bystanders = Bystanders::of(disk.path());
    let words = words(&fathom, random);
    let call = *random.of_these(&Call::ALL);
    let fitting: Vec<_> = Fault::ALL.into_iter().filter(|fault| fault.fits(call)).collect();
    let fault = *random.of_these(&fitting);
    // The test itself needs some of these before the program runs.
    let least = if matches!(call, Call::Lookup | Call::Getattr) { 10 } else { 0 };
    let after = least + if random.once_in(2) { random.below(4) } else { random.below(200) };
    if random.once_in(3) {
        disk.fail_once(call, after, fault)
    } else {
        disk.fail_after(call, after, fault)
    }
    let outcome = fathom.run(&words);
    let hits = disk.hits(call);
    disk.heal();
    let what = format!("{words:?} with {fault:?} of {call:?} after {after}, met {hits} times: {outcome:?}");
    assert!(outcome.code.is_some_and(|code| code != 101), "{what}");
    if outcome.code == Some(0) {
        let is_lost =
            hits > 0 && matches!(fault, Fault::Errno(_)) && (call.moves_data() || call == Call::Fsync);
        assert!(!is_lost, "no success: {what}");
    } else {
        assert!(hits > 0, "failed without a fault: {what}");
        assert!(
            ["error", "FATAL"].iter().any(|word| (outcome.stdout.clone() + &outcome.stderr).contains(word)),
            "without a word: {what}"
        );
    }
    let next = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).save(&fathom);
    let next = fathom.run(["run", next.to_str().expect("UTF-8"), "--no-store"]).expect_code(0);
    let told =
        if call == Call::Unlink || call == Call::Rmdir { outcome.stderr + &next.stderr } else { next.stderr };
    assert_nothing_left(&fathom, &[], &bystanders, &told);
    1
}

fn words(fathom: &Fathom, random: &mut Random) -> Vec<String> {
    let split = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    match random.below(7) {
        0 => {
            let path = Text::new("w").quick_write(fathom.work()).phase(
                "read",
                "first",
                "read",
                "",
                "record = { fixed = \"4KiB\" }",
            );
            vec!["run".into(), path.save(fathom).to_str().expect("UTF-8").into()]
        }
        1 => split("iozone -s 256k -r 16k -i 0 -i 1 -i 2 -e"),
        2 => split("iozone -t 2 -F a b -s 256k -r 64k"),
        3 => {
            let line = "sysbench fileio --file-num=4 --file-total-size=1M --file-test-mode=rndrw --events=200 --time=0";
            if random.once_in(2) {
                return split(&format!("{line} prepare"));
            }
            let _ = fathom.run_line(&format!("{line} prepare")).expect_code(0);
            split(&format!("{line} run"))
        }
        4 => {
            let script = format!(
                "define fileset name=mail,path={},entries=20,dirwidth=5,size=4k,prealloc=50\n\
                 define process name=p {{ thread name=t {{\nflowop createfile name=b,filesetname=mail,fd=1\n\
                 flowop appendfile name=c,iosize=1k,fd=1\nflowop closefile name=d,fd=1\n\
                 flowop deletefile name=a,filesetname=mail\nflowop finishoncount name=f,value=100 }} }}\nrun 2\n",
                fathom.work().display()
            );
            let path = fathom.dir().path().join("w.f");
            fs::write(&path, script).expect("a script");
            split(&format!("filebench -f {}", path.display()))
        }
        _ => {
            let engine = *random.of_these(&["psync", "sync", "pvsync2", "libaio", "io_uring", "posixaio"]);
            let rw = *random.of_these(&["write", "randrw", "read", "randwrite"]);
            split(&format!(
                "fio --name=a --rw={rw} --size=512k --bs=16k --ioengine={engine} --iodepth=4 --fsync=8 --unlink=1"
            ))
        }
    }
}
