//! One cell under one hypothesis: its command line's workload through the full stack gives the figures that IOzone prints and the shapes
//! of the requests at the controller.

use super::HYPOTHESES;
use super::published::{CELLS, KERNELS};
use crate::devices::DeviceProfile;
use crate::host::{self, Host};
use crate::shapes::Typical;
use crate::simulation::{Setup, SimError, simulate};
use crate::stack::Stack;
use fathom_record::Repetition;
use fathom_workload::Workload;

/// Host profile of the report.
pub(super) const HOST: &str = "server-2007-linux-2.6";
/// The elevator. The mail does not name it; this is the kernel's default.
pub(super) const ELEVATOR: &str = "cfq@2.6.24";

/// Changes for an ablation; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CcissChange {
    pub host: Option<fn(&mut Host)>,
    /// Overrides of the array's profile: (table, key, value as TOML).
    pub device: &'static [(&'static str, &'static str, &'static str)],
    pub elevator: Option<&'static str>,
}

/// Result of one simulated cell.
#[derive(Clone, Debug, Default)]
pub(super) struct CellResult {
    pub write_kb_s: f64,
    pub rewrite_kb_s: f64,
    pub least_kb_s: f64,
    pub most_kb_s: f64,
    pub typical: Typical,
    pub run: f64,
    /// Share of the commands that the controller's cache did not accept.
    pub past: f64,
}

/// Simulates a cell.
pub(super) fn one(
    workloads: &[Workload],
    cell: usize,
    hypothesis: usize,
    change: &CcissChange,
) -> Result<CellResult, SimError> {
    let unusable = |e: &dyn std::fmt::Display| SimError::Unsupported(e.to_string());
    let cell = &CELLS[cell];
    let mut host = host::shipped(HOST).map_err(|e| unusable(&e))?;
    if let Some(pages) = &mut host.pages {
        pages.order.value = KERNELS[cell.kernel].order;
    }
    if let Some(change) = change.host {
        change(&mut host);
    }
    let name = HYPOTHESES[hypothesis].device;
    let profile = DeviceProfile::changed(name, change.device).map_err(|e| unusable(&e))?;
    let limits = profile.limits(host.block.queue.get());
    let setup = Setup {
        host,
        device: Box::new(profile.build().map_err(|e| unusable(&e))?),
        device_name: name.into(),
        limits,
        scheduler: change.elevator.unwrap_or(ELEVATOR).into(),
        readahead: "none".into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: crate::simulation::never,
    };
    let out = simulate(&workloads[cell.test], setup)?;
    let of = |phase: usize| {
        let done = out.phases.get(phase).and_then(|p| p.first()).map(rates);
        done.ok_or_else(|| SimError::Unsupported("the command line writes and rewrites, and no less".into()))
    };
    let (write, rewrite) = (of(0)?, of(1)?);
    let shapes = &out.inside.shapes;
    let requests = shapes.requests() as f64;
    Ok(CellResult {
        write_kb_s: write.iter().sum(),
        rewrite_kb_s: rewrite.iter().sum(),
        least_kb_s: write.iter().copied().fold(f64::INFINITY, f64::min),
        most_kb_s: write.iter().copied().fold(0.0, f64::max),
        typical: shapes.typical(),
        run: shapes.run(),
        past: 1.0 - out.inside.device.cached_writes as f64 / requests.max(1.0),
    })
}

/// Throughput of each child, KB/s of 1024 bytes: its bytes over its own clock, including fsync and close where the command line has them.
fn rates(done: &Repetition) -> Vec<f64> {
    let rate = |bytes: u64, ns: u64| bytes as f64 / 1024.0 / (ns.max(1) as f64 / 1e9);
    done.workers.iter().map(|w| rate(w.bytes, w.elapsed_ns)).collect()
}
