//! The record of all ranks, on rank 0: each phase is stored as soon as all shares are merged, so that what was measured
//! survives whatever follows. At the end it lists every rank's identity, clock offset and times of work.

use super::clocks::Offset;
use super::hosts::Hosts;
use crate::common::Common;
use crate::run_loop;
use crate::run_store::RunStore;
use fathom_observe::trust;
use fathom_record::ranks::{RankTimes, Share};
use fathom_record::{Phase, Run, Status};
use serde_json::json;

/// When the ranks worked in one repetition of a phase.
pub(super) struct WorkTimes {
    pub name: String,
    pub seq: u32,
    pub repetition: u32,
    pub ranks: Vec<RankTimes>,
}

pub(super) struct Merged {
    pub run: Run,
    pub times: Vec<WorkTimes>,
    run_store: RunStore,
}

impl Merged {
    pub fn new(mut run: Run, common: &Common) -> Self {
        let run_store = RunStore::open(common, &mut run);
        Self { run, times: Vec::new(), run_store }
    }

    /// Adds a phase of all ranks.
    pub fn take(&mut self, share: Share) {
        let (mut phase, ranks) = share.finish();
        let Some(mut repetition) = phase.repetitions.pop() else { return };
        repetition.steady = repetition.steady.take().or_else(|| trust::judge_steadiness(&repetition));
        self.times.push(WorkTimes {
            name: phase.name.clone(),
            seq: phase.seq,
            repetition: repetition.n,
            ranks,
        });
        let at = self.run.phases.iter().position(|p| p.seq == phase.seq).unwrap_or_else(|| {
            self.run.phases.push(Phase { repetitions: Vec::new(), ..phase });
            self.run.phases.len() - 1
        });
        self.run.phases[at].repetitions.push(repetition);
        self.run_store.phase(&self.run.id, &self.run.phases[at]);
    }

    /// Records the ranks.
    pub fn introduce(&mut self, hosts: &Hosts, carrier: &str, offsets: &[(u32, Offset, Offset)]) {
        let one = |who: &super::hosts::Who| {
            let of = offsets.iter().find(|o| o.0 == who.rank).map(|o| (o.1, o.2)).unwrap_or_default();
            json!({
                "rank": who.rank, "host": who.host, "machine": who.machine, "kernel": who.kernel, "pid": who.pid,
                "clock_offset_ns": of.0.ns, "clock_error_ns": of.0.error_ns,
                "clock_offset_end_ns": of.1.ns, "clock_error_end_ns": of.1.error_ns,
            })
        };
        let hosts: Vec<_> = hosts.0.iter().map(one).collect();
        let phases: Vec<_> = self
            .times
            .iter()
            .map(|t| json!({ "phase": t.seq, "name": t.name, "repetition": t.repetition, "ranks": t.ranks }))
            .collect();
        if let Some(environment) = self.run.environment.as_object_mut() {
            environment
                .insert("ranks".into(), json!({ "carrier": carrier, "seats": hosts, "phases": phases }));
        }
    }

    /// Ends the record; also returns whether it is in the store.
    pub fn close(mut self, error: Option<String>, partial: bool) -> (Run, Vec<WorkTimes>, bool) {
        self.run.status = match (&error, partial) {
            (Some(_), _) => Status::Failed,
            (None, true) => Status::Interrupted,
            (None, false) => Status::Completed,
        };
        self.run.error = error;
        self.run.ended_at = run_loop::rfc3339(&fathom_observe::local_time::now());
        let stored = self.run_store.close(&self.run);
        (self.run, self.times, stored)
    }
}
