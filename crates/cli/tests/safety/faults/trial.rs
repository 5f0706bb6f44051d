//! One command on a failing file system: it ends by itself, reports in one line what failed, and its leftovers go with
//! the next one. Uses only the testkit.

use fathom_testkit::dir::names_in;
use fathom_testkit::{Call, Fathom, Fault, FaultFs, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Commands that use a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Run,
    Iozone,
    Sysbench,
    Filebench,
    Fio,
}

impl Command {
    pub const ALL: [Self; 5] = [Self::Run, Self::Iozone, Self::Sysbench, Self::Filebench, Self::Fio];

    /// Its command lines for a directory, with or without faults.
    fn lines(self, dir: &Path, inputs: &Path) -> Vec<String> {
        let (dir, inputs) = (dir.display(), inputs.display());
        let sysbench =
            "sysbench fileio --file-num=2 --file-total-size=64k --file-block-size=4k --events=16 --time=0";
        match self {
            Self::Run => vec![format!("run {inputs}/workload.toml")],
            Self::Iozone => vec![format!("iozone -s 64k -r 16k -e -i 0 -i 1 -i 2 -f {dir}/iozone.tmp")],
            Self::Sysbench => ["prepare", "--file-test-mode=rndrw run", "cleanup"]
                .map(|what| format!("{sysbench} {what}"))
                .to_vec(),
            Self::Filebench => vec![format!("filebench -f {inputs}/script.f")],
            Self::Fio => vec![format!(
                "fio --name=job --directory={dir} --size=128k --bs=16k --rw=randrw --fsync=4 --unlink=1 --ioengine=psync"
            )],
        }
    }

    /// Files it keeps by design.
    fn keeps(self) -> &'static [&'static str] {
        if self == Self::Filebench { &["fs"] } else { &[] }
    }

    /// Whether it gets to its work with such a fault. SysBench needs the directory as its working directory, and the
    /// test could not start it.
    pub fn bears(self, call: Call) -> bool {
        self != Self::Sysbench || !matches!(call, Call::Lookup | Call::Getattr)
    }

    fn input(self, dir: &Path) -> Option<(&'static str, String)> {
        let dir = dir.display();
        match self {
            Self::Run => Some(("workload.toml", WORKLOAD.replace("$DIR", &dir.to_string()))),
            Self::Filebench => Some(("script.f", SCRIPT.replace("$DIR", &dir.to_string()))),
            _ => None,
        }
    }
}

const WORKLOAD: &str = r#"name = "faulty"

[[fileset]]
name = "data"
files = { list = ["$DIR/data.0", "$DIR/data.1"] }
size = { fixed = "256KiB" }

[[phase]]
name = "write"
before = [{ recreate = "data" }]

[[phase.group]]
name = "writer"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "write"
record = { fixed = "64KiB" }
data = { positioned = { tag = 1 } }
timed = { fsync = true }

[[phase]]
name = "read"

[[phase.group]]
name = "reader"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "read"
record = { fixed = "64KiB" }
data = { positioned = { tag = 1 } }
verify = "full"
"#;

const SCRIPT: &str = "define fileset name=fs,path=$DIR,entries=6,dirwidth=2,size=16k,prealloc=50\n\
    define process name=proc { thread name=thr,memsize=1m {\n\
    flowop createfile name=make,filesetname=fs,fd=1\n\
    flowop writewholefile name=write,fd=1,iosize=4k\n\
    flowop fsync name=sync,fd=1\n\
    flowop closefile name=close,fd=1\n\
    flowop openfile name=open,filesetname=fs,fd=1\n\
    flowop readwholefile name=read,fd=1,iosize=4k\n\
    flowop closefile name=close2,fd=1\n\
    flowop statfile name=stat,filesetname=fs\n\
    flowop deletefile name=delete,filesetname=fs\n\
    flowop finishoncount name=end,value=16\n} }\nrun 2\n";

/// A user's files on the same file system.
const THEIRS: [(&str, &str); 2] = [("theirs", "thesis"), ("other/theirs", "letters")];

/// A command, its own directory on the file system, and a user's files beside it.
pub struct Trial<'a> {
    fs: &'a FaultFs,
    fathom: Fathom,
    command: Command,
    dir: PathBuf,
}

impl<'a> Trial<'a> {
    pub fn new(fs: &'a FaultFs, command: Command) -> Self {
        let fathom = Fathom::new().timeout(Duration::from_secs(60));
        let dir = fs.path().join("dir");
        for at in [&dir, &fs.path().join("other")] {
            fs::create_dir_all(at).expect("a directory");
        }
        for (name, text) in THEIRS {
            fs::write(fs.path().join(name), text).expect("a file of somebody's");
        }
        // SysBench works in the current directory, the others where told.
        let fathom = if command == Command::Sysbench { fathom.working_in(&dir) } else { fathom };
        if let Some((name, text)) = command.input(&dir) {
            fs::write(fathom.dir().path().join(name), text).expect("an input");
        }
        Self { fs, fathom, command, dir }
    }

    /// Runs it until the first line that fails, or to the end.
    #[track_caller]
    pub fn run(&self) -> Outcome {
        let mut last = None;
        for line in self.command.lines(&self.dir, self.fathom.dir().path()) {
            let outcome = self.fathom.run_line(&line);
            if outcome.code != Some(0) {
                return outcome;
            }
            last = Some(outcome);
        }
        last.expect("a command has a line")
    }

    /// Runs it with a fault, then without. Returns how the first run ended, unless something was wrong with it.
    pub fn with(&self, call: Call, after: u64, fault: Fault) -> Result<Outcome, String> {
        assert!(self.command.bears(call), "{:?} with {call:?}", self.command);
        let before = self.fs.hits(call);
        self.fs.fail_after(call, after, fault);
        let outcome = self.run();
        self.fs.heal();
        let hits = self.fs.hits(call) - before;
        let about = |what: &str| {
            format!(
                "{:?} with {call:?} {fault:?} after {after}: {what}, {hits} hits\n{outcome:?}",
                self.command
            )
        };
        ended_well(self.command, call, &outcome, hits).map_err(|what| about(&what))?;
        let again = self.run();
        if again.code != Some(0) {
            return Err(about(&format!("it does not go on: {again:?}")));
        }
        let (left, beside) = (names_in(&self.dir), names_in(self.fs.path()));
        if left != self.command.keeps() || beside != ["dir", "other", "theirs"] {
            return Err(about(&format!("left: {left:?} {beside:?}")));
        }
        for (name, text) in THEIRS {
            if fs::read_to_string(self.fs.path().join(name)).ok().as_deref() != Some(text) {
                return Err(about("somebody's file is changed"));
            }
        }
        Ok(outcome)
    }
}

/// By itself, and either well or with an error in one line.
fn ended_well(command: Command, call: Call, outcome: &Outcome, hits: u64) -> Result<(), String> {
    let told = |line: &&str| line.starts_with("error:") || line.starts_with("fio: cannot");
    // SysBench tells some failures in its own words.
    let own = |line: &&str| command == Command::Sysbench && line.starts_with("FATAL:");
    let errors = outcome.stderr.lines().filter(told).count();
    let told = errors.max(outcome.stdout.lines().filter(own).count());
    // Each file that stays is named.
    let removes = matches!(call, Call::Unlink | Call::Rmdir);
    match outcome.code {
        None => Err("ended by a signal".into()),
        _ if outcome.stderr.contains("panicked") => Err("panicked".into()),
        Some(0) if errors == 0 => Ok(()),
        Some(0) => Err("an error, and yet a success".into()),
        Some(_) if hits == 0 => Err("failed without a fault".into()),
        Some(_) if told == 1 || (removes && told > 1) => Ok(()),
        Some(code) if command == Command::Run && !matches!(code, 2 | 3) => Err("another exit code".into()),
        Some(_) => Err(format!("{told} errors instead of one")),
    }
}
