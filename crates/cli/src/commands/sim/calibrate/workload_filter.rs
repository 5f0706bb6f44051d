//! Decides which requests of a trace belong to the traced workload. Fathom's event log names the task behind each
//! request. If workers of a `fathom run` are among them, requests of other programs, and all before and after (laying
//! out files), are excluded. A trace without such workers counts as a whole.

use super::super::super::trace::input::{self, Input};
use super::super::super::trace::summary::Elsewhere;
use fathom_observe::block::OwnTasks;
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, IssuerKind};
use std::ops::RangeInclusive;

/// Fewer requests of workers are not a workload.
const LEAST: u64 = 20;

pub(super) struct WorkloadFilter {
    tasks: OwnTasks<Elsewhere>,
    /// From the first request of a worker to the last, ns; `None` without workers.
    between: Option<RangeInclusive<u64>>,
}

impl WorkloadFilter {
    pub fn of(input: &Input, device: DeviceNumber) -> anyhow::Result<Self> {
        let (mut count, mut first, mut last) = (0, u64::MAX, 0);
        for event in input.open()? {
            let event = event.map_err(input::wrong)?;
            if event.device == device && event.action == BlockAction::Issue && is_worker(&event) {
                count += 1;
                first = first.min(event.time_ns);
                last = last.max(event.time_ns);
            }
        }
        let tasks = OwnTasks::with(Elsewhere, u32::MAX);
        Ok(Self { tasks, between: (count >= LEAST).then_some(first..=last) })
    }

    /// Whether the workload issued a request.
    pub fn is_its(&mut self, event: &BlockEvent) -> bool {
        let Some(between) = &self.between else { return true };
        between.contains(&event.time_ns)
            && (is_worker(event)
                || event.task_name().starts_with("iou-")
                || self.tasks.kind(event.pid, &event.task, event.device, event.flags) != IssuerKind::Other)
    }

    /// The time range of the workload's requests.
    pub fn between(&self) -> RangeInclusive<u64> {
        self.between.clone().unwrap_or(0..=u64::MAX)
    }
}

/// Whether a task has the name of an engine worker.
fn is_worker(event: &BlockEvent) -> bool {
    let name = event.task_name();
    let process = name.strip_prefix("fathom-");
    process.is_some_and(|pid| !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()))
}
