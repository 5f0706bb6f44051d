//! What planning asks of the world, and what may not be destroyed.

use fathom_dialects::filebench::plan::{Found, Plan, Step, World};
use fathom_engine::Ledger;
use fathom_workload::{Act, Existing, Program, Workload};
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The world as it is now.
pub fn world<'a>(hostname: String, date: String) -> World<'a> {
    World {
        look: &look,
        read: &|path| std::fs::read_to_string(path).ok(),
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
            if !exists
                || made.as_found
                || set.foreign_writable
                || ledger.owns(&made.root)
                || ledger.owns_tree(&made.root)
            {
                continue;
            }
            let root = made.root.display();
            if set.existing != Existing::Reuse {
                return Some(format!(
                    "{root} exists and was not made by fathom; fileset {} would replace it. Choose another path or name, add reuse to use what is there, or allow its loss with --replace {root}",
                    made.name
                ));
            }
            if plan.runs().any(|run| deletes(&run.workload, &made.name)) {
                return Some(format!(
                    "{root} was not made by fathom, and a flowop deletes files of it; allow it with --replace {root}"
                ));
            }
        }
    }
    None
}

fn deletes(workload: &Workload, set: &str) -> bool {
    workload.phases.iter().any(|phase| {
        crate::flows::operations(phase).iter().any(|op| {
            matches!(op.act, Act::Delete | Act::RemoveDirectory) && op.fileset.as_deref() == Some(set)
        })
    })
}

/// Megabytes of shared memory that the largest run takes for its counters, about.
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
