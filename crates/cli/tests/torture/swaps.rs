//! Links, mounts, hard links and other files that another user swaps in at random times where fathom works.

use crate::measure::workloads::Text;
use crate::torture::bystanders::Bystanders;
use crate::torture::campaign::{Random, torture};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Running};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn swaps() {
    torture("swaps", trial);
}

/// Maximum number of swaps per run.
const MOST: u64 = 12;

/// A run in the directories of an active other user.
struct Place {
    fathom: Fathom,
    /// The other user's files, with names like fathom's own.
    theirs: PathBuf,
    bystanders: Bystanders,
    /// What was mounted and exchanged, to be undone.
    mounted: Vec<PathBuf>,
    numbers: u64,
}

fn trial(random: &mut Random) -> u64 {
    let fathom = Fathom::new();
    let theirs = fathom.dir().subdir("theirs");
    let (words, targets) = command(&fathom, random);
    drop(Bystanders::in_(&theirs));
    for name in (1..80).map(|n| format!("{n:08}")).chain(targets.iter().map(|name| last(name))) {
        fs::write(theirs.join(&name), format!("theirs {name}").repeat(9)).expect("their file");
    }
    let bystanders = Bystanders::of(&theirs);
    let mut place = Place { fathom, theirs, bystanders, mounted: Vec::new(), numbers: 0 };
    let mut running = place.fathom.spawn(&words);
    // Before it has made its files, what lies there is what its user has named.
    if words[0] == "filebench" {
        running.wait_for_text("Running...")
    } else {
        running.wait_for_work(1)
    }
    let mut swaps = 0;
    let (most, until) = (1 + random.below(MOST), Instant::now() + Duration::from_secs(3));
    while swaps < most && Instant::now() < until && !running.has_ended() {
        random.wait(Duration::from_millis(120));
        swaps += u64::from(place.swap(random, &targets));
        if random.once_in(3) {
            place.unmount();
        }
    }
    let outcome = end(running);
    assert!(outcome.signal.is_none() && outcome.code != Some(101), "{outcome:?}");
    place.unmount();
    place.bystanders.assert_alone();
    let next = Text::new("next").quick_write(&place.fathom.dir().subdir("elsewhere")).save(&place.fathom);
    let _ = place.fathom.run(["run", next.to_str().expect("UTF-8"), "--no-store"]).expect_code(0);
    place.bystanders.assert_alone();
    swaps
}

/// Waits for the end, but not for long.
fn end(mut running: Running) -> fathom_testkit::Outcome {
    let patience = Instant::now() + Duration::from_secs(4);
    while !running.has_ended() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(libc::SIGINT);
    running.finish()
}

impl Place {
    /// Replaces one of our files with a foreign one; returns whether it existed.
    fn swap(&mut self, random: &mut Random, targets: &[String]) -> bool {
        let name = random.of_these(targets).clone();
        let target = self.fathom.work().join(&name);
        let Ok(about) = target.symlink_metadata() else { return false };
        if self.leads_to_them(&target) {
            return false;
        }
        self.numbers += 1;
        let beside = self.fathom.dir().path().join(format!("beside-{}", self.numbers));
        if about.is_dir() {
            match random.below(5) {
                0 => return self.mount(&target),
                1 => return self.swap_within(random, &target),
                2 => {
                    fs::create_dir(&beside).expect("a directory");
                    symlink(&self.theirs, beside.join("00000001")).expect("a link");
                }
                _ => symlink(&self.theirs, &beside).expect("a link"),
            }
        } else {
            self.of_theirs(random, &beside, &last(&name));
        }
        exchange(&beside, &target)
    }

    /// Whether the directory of this name is theirs by now, so that the trial itself would change their files.
    fn leads_to_them(&self, target: &Path) -> bool {
        let number = |path: &Path| fs::metadata(path).map(|about| about.ino()).ok();
        target.ancestors().skip(1).any(|above| number(above) == number(&self.theirs))
    }

    /// Replaces a name in one of our directories with theirs.
    fn swap_within(&self, random: &mut Random, target: &Path) -> bool {
        let names = if self.leads_to_them(&target.join("name")) { Vec::new() } else { names_in(target) };
        let Some(name) = (!names.is_empty()).then(|| random.of_these(&names).clone()) else { return false };
        let (beside, target) =
            (self.fathom.dir().path().join(format!("beside-{}", self.numbers)), target.join(&name));
        if target.is_dir() {
            symlink(&self.theirs, &beside).expect("a link")
        } else {
            self.of_theirs(random, &beside, &name)
        }
        exchange(&beside, &target)
    }

    /// A symbolic or hard link to one of their files.
    fn of_theirs(&self, random: &mut Random, at: &Path, name: &str) {
        let file = self.theirs.join(name);
        if random.once_in(2) || fs::hard_link(&file, at).is_err() {
            symlink(&file, at).expect("a link");
        }
    }

    fn mount(&mut self, on: &Path) -> bool {
        let done = !on.is_symlink() && {
            let mount = Command::new("mount").arg("--bind").arg(&self.theirs).arg(on).output();
            mount.is_ok_and(|output| output.status.success())
        };
        if done {
            self.mounted.push(on.to_path_buf());
        }
        done
    }

    fn unmount(&mut self) {
        for on in self.mounted.drain(..).rev() {
            let _ = fathom_testkit::unmount(&on);
        }
    }
}

impl Drop for Place {
    /// Before the directory goes, so that nothing is removed through a mount.
    fn drop(&mut self) {
        self.unmount();
    }
}

/// Atomic: the name always exists.
fn exchange(one: &Path, other: &Path) -> bool {
    let how = rustix::fs::RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(rustix::fs::CWD, one, rustix::fs::CWD, other, how).is_ok()
}

fn last(name: &str) -> String {
    name.rsplit('/').next().unwrap_or_default().to_owned()
}

/// A command, and the names that it works on.
fn command(fathom: &Fathom, random: &mut Random) -> (Vec<String>, Vec<String>) {
    let split = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let sub = fathom.work().join("d");
    match random.below(6) {
        0 | 1 => {
            let flows = random.of_these(&[
                "flowop deletefile name=a,filesetname=mail\nflowop createfile name=b,filesetname=mail,fd=1\n\
                 flowop appendfile name=c,iosize=1k,fd=1\nflowop closefile name=d,fd=1",
                "flowop openfile name=a,filesetname=mail,fd=1\nflowop writewholefile name=b,filesetname=mail,iosize=4k,fd=1\n\
                 flowop closefile name=c,fd=1",
                "flowop makedir name=a,filesetname=mail\nflowop removedir name=b,filesetname=mail",
            ]);
            let set =
                if flows.contains("makedir") { "entries=0,leafdirs=60" } else { "entries=60,prealloc=50" };
            let script = format!(
                "define fileset name=mail,path={},{set},dirwidth=1000,size=1k\n\
                 define process name=p {{ thread name=t {{\n{flows} }} }}\nrun 2\n",
                fathom.work().display()
            );
            fs::write(fathom.dir().path().join("w.f"), script).expect("a script");
            let words = split(&format!("filebench -f {}", fathom.dir().path().join("w.f").display()));
            (words, names(&["mail/00000001", "mail"]))
        }
        2 => {
            fs::create_dir(&sub).expect("a directory");
            (split("iozone -t 1 -F d/z -s 1m -r 64k -J 30"), names(&["d", "d/z"]))
        }
        3 => {
            fs::create_dir(&sub).expect("a directory");
            let job = "--rw=randwrite --bs=4k --size=256k --loops=20 --rate_iops=2000 --unlink=1";
            (split(&format!("fio --name=j --filename=d/z {job}")), names(&["d", "d/z"]))
        }
        4 => {
            fs::create_dir(&sub).expect("a directory");
            let engine = *random.of_these(&["filecreate", "filedelete", "filestat"]);
            let line = format!(
                "fio --name=j --directory=d --ioengine={engine} --nrfiles=60 --filesize=4k --bs=4k --rate_iops=60 --openfiles=1"
            );
            (split(&line), names(&["d", "d/j.0.0", "d/j.0.30", "d/j.0.50", "d/j.0.59"]))
        }
        _ => {
            let line = "sysbench fileio --file-num=4 --file-total-size=1M --file-test-mode=rndwr --rate=200 --time=2 --events=0";
            let _ = fathom.run_line(&format!("{line} prepare")).expect_code(0);
            (split(&format!("{line} run")), names(&["test_file.0", "test_file.1", "test_file.3"]))
        }
    }
}
