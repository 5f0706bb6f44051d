//! What is measured: a native workload file, a script, or a drop-in's command line. Planned again for every cell,
//! because cells may differ in it and may run on different file systems.

use super::native;
use crate::commands::fio::{self, JobHost};
use crate::commands::{filebench, iozone, run, sysbench};
use crate::common::Common;
use crate::exit::Usage;
use crate::run_loop::{self, Finished, Head, Listener};
use fathom_engine::Engine;
use fathom_workload::{Files, Workload};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The words after `--`.
#[derive(Debug)]
pub struct SweepSubject {
    kind: SubjectKind,
    words: Vec<String>,
}

#[derive(Debug)]
enum SubjectKind {
    Native {
        name: String,
        text: String,
    },
    /// Absolute: cells may run in other directories.
    Script(PathBuf),
    Sysbench,
    Iozone,
    /// Its script is relative to the directory the program was started in.
    Filebench(PathBuf),
    /// A fio job file, absolute; paths in it are relative to the directory the program was started in.
    Job {
        file: PathBuf,
        here: PathBuf,
    },
    /// Its job files are relative to the directory the program was started in.
    Fio(PathBuf),
}

/// The plan of a cell.
pub enum CellPlan {
    Native { name: String, workload: Box<Workload>, argv: Vec<String> },
    Sysbench(Box<sysbench::MeasuredSysbench>),
    Iozone(Box<iozone::MeasuredIozone>),
    Filebench(Box<filebench::MeasuredFilebench>),
    Fio(Box<fio::MeasuredFio>),
}

impl SweepSubject {
    pub fn read(words: &[OsString]) -> Result<Self, Usage> {
        let words: Vec<String> = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let kind = match first {
            "sysbench" => SubjectKind::Sysbench,
            "iozone" => SubjectKind::Iozone,
            "filebench" => SubjectKind::Filebench(here()?),
            "fio" => SubjectKind::Fio(here()?),
            file if words.len() > 1 => {
                return Err(Usage(format!(
                    "{file} {}: after -- give either one workload file, or sysbench, iozone, filebench or fio with its arguments",
                    words[1]
                )));
            }
            file if file.ends_with(".f") => SubjectKind::Script(absolute(file)?),
            file if file.ends_with(".fio") => SubjectKind::Job { file: absolute(file)?, here: here()? },
            file => {
                let (name, text) = run::read(Path::new(file)).map_err(|e| Usage(format!("{e:#}")))?;
                SubjectKind::Native { name, text }
            }
        };
        Ok(Self { kind, words })
    }

    /// As typed.
    pub fn words(&self) -> String {
        self.words.join(" ")
    }

    /// The language of its workload.
    pub fn dialect(&self) -> &'static str {
        match self.kind {
            SubjectKind::Native { .. } => "native",
            SubjectKind::Sysbench => "sysbench",
            SubjectKind::Iozone => "iozone",
            SubjectKind::Script(_) | SubjectKind::Filebench(_) => "filebench",
            SubjectKind::Job { .. } | SubjectKind::Fio(_) => "fio",
        }
    }

    pub fn is_native(&self) -> bool {
        matches!(self.kind, SubjectKind::Native { .. })
    }

    /// Names in braces in a drop-in's arguments.
    pub fn placeholders(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if matches!(self.kind, SubjectKind::Native { .. } | SubjectKind::Script(_) | SubjectKind::Job { .. })
        {
            return names;
        }
        for word in &self.words[1..] {
            for (at, _) in word.match_indices('{') {
                let Some((name, _)) = word[at + 1..].split_once('}') else { continue };
                // A fio variable.
                if matches!(self.kind, SubjectKind::Fio(_)) && word[..at].ends_with('$') {
                    continue;
                }
                let plain = !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
                if plain && !names.iter().any(|n| n == name) {
                    names.push(name.into());
                }
            }
        }
        names
    }

    /// The plan of a cell on this machine. `seed` is for subjects that draw a new one every time.
    pub fn plan(
        &self,
        arguments: &[(String, String)],
        settings: &[(String, String)],
        seed: u64,
    ) -> Result<CellPlan, Usage> {
        self.plan_on(JobHost::Here, arguments, settings, seed)
    }

    /// The same on this machine or a simulated one.
    pub fn plan_on(
        &self,
        place: JobHost,
        arguments: &[(String, String)],
        settings: &[(String, String)],
        seed: u64,
    ) -> Result<CellPlan, Usage> {
        let words: Vec<String> = self
            .words
            .iter()
            .map(|w| {
                arguments.iter().fold(w.clone(), |w, (name, value)| w.replace(&format!("{{{name}}}"), value))
            })
            .collect();
        let args = &words[1..];
        let argv: Vec<String> = std::iter::once("fathom".to_string()).chain(words.clone()).collect();
        Ok(match &self.kind {
            SubjectKind::Native { name, text } => {
                let workload = native::with(name, text, settings)?;
                if let Err(errors) = workload.check_to_run() {
                    let lines: Vec<String> = errors.iter().map(|e| format!("{name}: {e}")).collect();
                    return Err(Usage(lines.join("\n")));
                }
                let argv = ["fathom", "run", name].map(String::from).to_vec();
                CellPlan::Native { name: name.clone(), workload: Box::new(workload), argv }
            }
            SubjectKind::Sysbench => CellPlan::Sysbench(Box::new(
                sysbench::MeasuredSysbench::read(args, seed, argv).map_err(Usage)?,
            )),
            SubjectKind::Iozone => {
                CellPlan::Iozone(Box::new(iozone::MeasuredIozone::read(args, argv).map_err(Usage)?))
            }
            SubjectKind::Filebench(here) => CellPlan::Filebench(Box::new(
                filebench::MeasuredFilebench::read(args, argv, here).map_err(Usage)?,
            )),
            SubjectKind::Fio(here) => {
                CellPlan::Fio(Box::new(fio::MeasuredFio::read(args, argv, here, place, seed).map_err(Usage)?))
            }
            SubjectKind::Job { file, here } => {
                let args = [file.to_string_lossy().into_owned()];
                CellPlan::Fio(Box::new(
                    fio::MeasuredFio::read(&args, argv, here, place, seed).map_err(Usage)?,
                ))
            }
            SubjectKind::Script(path) => {
                let args = ["-f".to_string(), path.to_string_lossy().into_owned()];
                let here = Path::new("/");
                CellPlan::Filebench(Box::new(
                    filebench::MeasuredFilebench::read(&args, argv, here).map_err(Usage)?,
                ))
            }
        })
    }
}

fn absolute(file: &str) -> Result<PathBuf, Usage> {
    std::path::absolute(file).map_err(|e| Usage(format!("{file}: {e}")))
}

fn here() -> Result<PathBuf, Usage> {
    std::env::current_dir().map_err(|e| Usage(format!("the working directory: {e}")))
}

impl CellPlan {
    /// The workloads, as far as known before they run.
    pub fn workloads(&self) -> Result<Vec<Workload>, Usage> {
        Ok(match self {
            Self::Native { workload, .. } => vec![(**workload).clone()],
            Self::Sysbench(m) => vec![m.workload().clone()],
            Self::Iozone(m) => vec![m.workload().clone()],
            Self::Fio(m) => vec![m.workload().clone()],
            Self::Filebench(m) => {
                let plan = m.plan().map_err(|_| Usage("the script cannot be run, see above".into()))?;
                plan.runs().map(|r| r.workload.clone()).collect()
            }
        })
    }

    /// Notes on how it was parsed.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Fio(m) => m.notes(),
            _ => &[],
        }
    }

    /// Checks what can be checked before anything is made, and returns the paths of its files, the first one first: of
    /// a list every file, since each may be elsewhere.
    pub fn check(&self, engine: &Engine) -> Result<Vec<PathBuf>, Usage> {
        let workloads = self.workloads()?;
        if let Self::Native { name, workload, .. } = self {
            run::check(engine, workload, name)?;
        }
        let mut paths = Vec::new();
        for workload in &workloads {
            engine.check(workload).map_err(|e| Usage(e.to_string()))?;
            for set in &workload.filesets {
                match &set.files {
                    Files::Tree(tree) => paths.push(tree.root.clone()),
                    Files::List(list) => paths.extend(list.iter().cloned()),
                    files => paths.extend(files.path(0)),
                }
            }
        }
        Ok(paths)
    }

    /// Makes what it needs and does not make itself; `made` gets each new file.
    pub fn prepare(&self, made: &mut dyn FnMut(&Path) -> Result<(), String>) -> Result<(), String> {
        match self {
            Self::Sysbench(m) => m.prepare(&mut Engine::new(crate::state::ledger()), made),
            _ => Ok(()),
        }
    }

    /// Executes it; a script may have several runs.
    pub fn measure(&self, common: &Common, listener: &mut dyn Listener) -> Result<Vec<Finished>, String> {
        // A new engine, which knows the files just prepared.
        let mut engine = Engine::new(crate::state::ledger());
        let mut once = |workload, head| {
            let finished = run_loop::execute(&mut engine, workload, head, common, listener);
            finished.map(|f| vec![f]).map_err(|e| e.to_string())
        };
        match self {
            Self::Native { workload, argv, .. } => {
                let head = Head {
                    label: workload.name.clone(),
                    dialect: "native".into(),
                    argv: argv.clone(),
                    directory: run::directory_of(workload),
                    started: fathom_observe::local_time::now(),
                };
                once(workload, head)
            }
            Self::Sysbench(m) => once(m.workload(), m.head()?),
            Self::Iozone(m) => once(m.workload(), m.head()),
            Self::Fio(m) => once(m.workload(), m.head()),
            Self::Filebench(m) => m
                .measure(&mut engine, common)
                .map_err(|_| "the script could not be run, see above".to_string()),
        }
    }
}
