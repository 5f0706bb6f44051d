//! Facts about the machine needed for planning, and a check of what must not be destroyed.

use crate::input;
use fathom_dialects::filebench::plan::{Found, Plan, Step, World};
use fathom_engine::Ledger;
use fathom_workload::{Act, Existing, Program, Workload};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

pub fn world<'a>(hostname: String, date: String) -> World<'a> {
    World {
        look: &look,
        read: &|path| input::read_to_string(path).ok(),
        environment: &|name| std::env::var(name).ok(),
        date,
        hostname,
    }
}

fn look(path: &Path) -> Found {
    let Ok(metadata) = path.metadata() else { return Found::Missing };
    if metadata.is_dir() {
        Found::Directory
    } else if metadata.file_type().is_block_device() {
        let end = std::fs::File::open(path).and_then(|mut f| f.seek(SeekFrom::End(0)));
        Found::BlockDevice { bytes: end.unwrap_or(0) }
    } else {
        Found::File { bytes: metadata.len() }
    }
}

/// The first tree or file that the plan would destroy although fathom did not make it, in a sentence.
pub fn endangered(plan: &Plan, ledger: &Ledger) -> Option<String> {
    for create in plan.creations() {
        for (made, set) in create.sets.iter().zip(&create.workload.filesets) {
            let exists = made.root.symlink_metadata().is_ok();
            let makes_anew = set.existing != Existing::Reuse;
            if let Some(pid) = ledger.used_by_another(&made.root).filter(|_| makes_anew) {
                return Some(format!(
                    "{} belongs to another run of fathom that has not ended (process {pid}). Wait for it, or choose another path or name",
                    made.root.display()
                ));
            }
            if !exists || set.may_modify || ledger.owns(&made.root) || ledger.owns_tree(&made.root) {
                continue;
            }
            let root = made.root.display();
            if set.existing != Existing::Reuse {
                return Some(format!(
                    "{root} exists and was not made by fathom; fileset {} would replace it. Choose another path or name, add reuse to use what is there, or allow its loss with --replace {root}",
                    made.name
                ));
            }
            if let Some(does) = plan.runs().find_map(|run| harm(&run.workload, &made.name)) {
                return Some(format!(
                    "{root} was not made by fathom, and a flowop {does} it; allow it with --replace {root}"
                ));
            }
        }
    }
    None
}

/// What a flow would do to a set that must stay unchanged.
fn harm(workload: &Workload, set: &str) -> Option<&'static str> {
    let all = workload.phases.iter().flat_map(crate::flows::operations);
    all.filter(|op| op.fileset.as_deref() == Some(set)).find_map(|op| match op.act {
        Act::Write | Act::WriteWholeFile | Act::Append | Act::AppendRandomLength | Act::AsyncWrite => {
            Some("writes to")
        }
        Act::Create => Some("creates files in"),
        Act::Delete => Some("deletes files of"),
        Act::MakeDirectory | Act::RemoveDirectory => Some("changes directories of"),
        _ => None,
    })
}

/// Approximate shared memory for the counters of the largest run, in megabytes.
pub fn shared_megabytes(plan: &Plan) -> u64 {
    let of_run = |workload: &Workload| -> u64 {
        let phases = workload.phases.iter().flat_map(|p| &p.groups);
        phases
            .map(|g| {
                let threads = g.threads.iter().map(|t| {
                    let rows = match &t.program {
                        Program::Flow(flow) => flow.ops.len() as u64,
                        Program::Stream(_) => 0,
                    };
                    u64::from(t.instances) * (rows + 2)
                });
                u64::from(g.instances) * threads.sum::<u64>()
            })
            .sum()
    };
    let histograms = plan.steps.iter().filter_map(|s| match s {
        Step::Run(run) => Some(of_run(&run.workload)),
        _ => None,
    });
    (histograms.max().unwrap_or(0) * fathom_record::histogram::BUCKETS as u64 * 8).div_ceil(1 << 20)
}
