//! What rank 0 read and broadcasts: the workload in the native format, whatever its original language, and the run's
//! name.

use super::client_file::{self, Client};
use super::line::{RankCommand, RankLine};
use crate::commands::fio::clock_seed;
use crate::commands::sweep::subject::{CellPlan, SweepSubject};
use crate::commands::{filebench, run};
use crate::console;
use crate::exit::Usage;
use crate::run_loop::Head;
use fathom_workload::{Layout, Workload};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// One run of all ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunOrder {
    /// In the native format.
    pub workload: String,
    pub label: String,
    pub dialect: String,
    pub argv: Vec<String>,
    pub directory: PathBuf,
    pub clients: Vec<Client>,
    /// Whether ranks report their counts for the live line.
    pub live: bool,
}

impl RunOrder {
    /// Reads what to run.
    pub fn read(line: &RankLine, ranks: u32) -> Result<Self, Usage> {
        let mut words = line.command.words();
        let mut clients = Vec::new();
        if let RankCommand::Iozone(_) = line.command {
            let mut args: Vec<String> = words.iter().map(|w| w.to_string_lossy().into_owned()).collect();
            clients = client_file::take(&mut args, ranks).map_err(Usage)?;
            words = args.into_iter().map(OsString::from).collect();
        }
        let subject = SweepSubject::read(&words)?;
        let planned = subject.plan(&[], &[], clock_seed())?;
        planned.notes().iter().for_each(|note| console::note(note));
        if let CellPlan::Fio(m) = &planned
            && let Some(name) = m.scheduler()
        {
            return Err(Usage(format!(
                "ioscheduler={name}: ranks do not change settings of their hosts; set the scheduler on every host before the run, and leave the option out"
            )));
        }
        let (mut workload, label, directory) = of(&planned)?;
        let wishes = &line.ranks;
        // Files prepared in advance for all ranks.
        let shared = wishes.shared.map(super::line::FileShare::layout).or(match &planned {
            CellPlan::Sysbench(_) => Some(Layout::Whole),
            _ => None,
        });
        if let Some(layout) = shared {
            workload.ranks.shared.extend(workload.filesets.iter().map(|set| (set.name.clone(), layout)));
        }
        add_phases(&mut workload, wishes.reorder, wishes.wear_out)?;
        let text = workload
            .to_toml()
            .map_err(|e| Usage(format!("the workload cannot be sent to the other ranks: {e}")))?;
        Ok(Self {
            workload: text,
            label,
            dialect: subject.dialect().into(),
            argv: console::argv(),
            directory,
            clients,
            live: wishes.live || super::live::on_terminal(),
        })
    }

    /// The workload as every rank parses it.
    pub fn workload(&self) -> Result<Workload, String> {
        Workload::from_toml(&self.workload).map_err(|d| d.render("what rank 0 sent", &self.workload))
    }

    pub fn head(&self) -> Head {
        Head {
            label: self.label.clone(),
            dialect: self.dialect.clone(),
            argv: self.argv.clone(),
            directory: self.directory.clone(),
            started: fathom_observe::local_time::now(),
        }
    }
}

/// The planned workload, its name, and its directory.
fn of(planned: &CellPlan) -> Result<(Workload, String, PathBuf), Usage> {
    let of_head = |workload: &Workload, head: Head| (workload.clone(), head.label, head.directory);
    Ok(match planned {
        CellPlan::Native { workload, .. } => {
            ((**workload).clone(), workload.name.clone(), run::directory_of(workload))
        }
        CellPlan::Sysbench(m) => of_head(m.workload(), m.head().map_err(Usage)?),
        CellPlan::Iozone(m) => of_head(m.workload(), m.head()),
        CellPlan::Fio(m) => of_head(m.workload(), m.head()),
        CellPlan::Filebench(m) => script(m)?,
    })
}

fn script(measured: &filebench::MeasuredFilebench) -> Result<(Workload, String, PathBuf), Usage> {
    let plan = measured.plan().map_err(|_| Usage("the script cannot be run, see above".into()))?;
    let mut runs = plan.runs();
    let (Some(first), None) = (runs.next(), runs.next()) else {
        return Err(Usage("ranks execute a script with one run; this one has several".into()));
    };
    let directory = run::directory_of(&first.workload);
    Ok((first.workload.clone(), first.workload.name.clone(), directory))
}

/// `--reorder` and `--wear-out`: applied to every phase that supports them.
fn add_phases(workload: &mut Workload, reorder: bool, wear_out: bool) -> Result<(), Usage> {
    let names = |list: fn(&mut Workload) -> &mut Vec<String>, workload: &mut Workload, option: &str| {
        let phases: Vec<String> = workload.phases.iter().map(|p| p.name.clone()).collect();
        let mut found = 0;
        for name in phases {
            let mut tried = workload.clone();
            list(&mut tried).push(name.clone());
            if tried.check().is_ok() && !list(workload).contains(&name) {
                list(workload).push(name);
                found += 1;
            }
        }
        if found == 0 { Err(Usage(format!("{option}: no phase can do that"))) } else { Ok(()) }
    };
    if reorder {
        names(|w| &mut w.ranks.reordered, workload, "--reorder")?;
    }
    if wear_out {
        names(|w| &mut w.ranks.wear_out, workload, "--wear-out")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_the_hosts_is_refused_and_not_ignored() {
        let read = |more: &[&str]| {
            let words = ["fathom-mpi", "fio", "--name=x", "--size=1m"].iter().chain(more).map(OsString::from);
            RunOrder::read(&super::super::line::parse(&words.collect::<Vec<_>>()).unwrap(), 2)
        };
        assert!(read(&[]).is_ok());
        assert!(
            read(&["--ioscheduler=none"]).unwrap_err().0.starts_with("ioscheduler=none: ranks do not change")
        );
    }
}
