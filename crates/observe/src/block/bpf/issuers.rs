//! Whose the requests are that no measured thread asked for. The programs know a task's number and name; what kind of task it is,
//! /proc knows, as long as it lives: so that is asked for while counting goes on.

use super::super::own::OwnTasks;
use super::maps::{MAX_DEVICES, Maps, TaskRequests};
use fathom_record::block::{
    DeviceNumber, Issuer, IssuerKind, RequestFlags, measured_threads_name, merged_issuers, without_numbers,
};
use std::collections::HashMap;

/// The common name of tasks that the table has no room for.
const REST: &str = "(more)";

fn name_of(task: &[u8; 16]) -> String {
    let end = task.iter().position(|&b| b == 0).unwrap_or(task.len());
    String::from_utf8_lossy(&task[..end]).into_owned()
}

/// The requests of each task so far.
pub(super) struct Issuers {
    tasks: OwnTasks,
    devices: Vec<DeviceNumber>,
    /// The last counts, by device and PID.
    last: HashMap<(usize, u32), TaskRequests>,
    counted: [Vec<Issuer>; MAX_DEVICES],
}

impl Issuers {
    pub fn new(devices: Vec<DeviceNumber>) -> Self {
        Self { tasks: OwnTasks::new(), devices, last: HashMap::new(), counted: Default::default() }
    }

    /// Counting has restarted from zero.
    pub fn restart(&mut self) {
        self.last.clear();
        self.counted = Default::default();
    }

    /// Tasks that had ended before they were looked at and were taken for ours by their names.
    pub fn by_name(&self) -> u64 {
        self.tasks.by_name()
    }

    /// Takes over what was counted since the last time.
    pub fn take(&mut self, maps: &Maps, watch: u32) {
        self.tasks.next_round();
        for (device, asked) in maps.issuers(watch) {
            let last = self.last.insert((device, asked.pid), asked).unwrap_or_default();
            if let (Some(&number), Some(counted)) = (self.devices.get(device), self.counted.get_mut(device)) {
                self.tasks.look(asked.pid, &asked.name);
                let name = name_of(&asked.name);
                let mut add = |flags: RequestFlags, more: &dyn Fn(&mut Issuer) -> bool| {
                    let kind = self.tasks.kind(asked.pid, &asked.name, number, flags);
                    let name = without_numbers(kind, &name).to_string();
                    let mut issuer = Issuer { kind, name, ..Issuer::default() };
                    if more(&mut issuer) {
                        counted.push(issuer);
                    }
                };
                add(RequestFlags::READ, &|i| {
                    (i.reads, i.read_bytes) = (
                        asked.reads.saturating_sub(last.reads),
                        asked.read_bytes.saturating_sub(last.read_bytes),
                    );
                    i.reads > 0
                });
                add(RequestFlags::WRITE, &|i| {
                    (i.writes, i.write_bytes) = (
                        asked.writes.saturating_sub(last.writes),
                        asked.write_bytes.saturating_sub(last.write_bytes),
                    );
                    i.writes > 0
                });
                add(RequestFlags::PREFLUSH, &|i| {
                    i.others = asked.others.saturating_sub(last.others);
                    i.others > 0
                });
                *counted = merged_issuers(std::mem::take(counted));
            }
        }
    }

    /// All of a device, the most bytes first; `total` is what was issued, by whomever.
    pub fn of(&self, device: usize, workers: &TaskRequests, total: &Issuer) -> Vec<Issuer> {
        let mut all = self.counted.get(device).cloned().unwrap_or_default();
        all.push(Issuer {
            kind: IssuerKind::Own,
            name: without_numbers(IssuerKind::Own, &measured_threads_name(std::process::id())).into(),
            reads: workers.reads,
            read_bytes: workers.read_bytes,
            writes: workers.writes,
            write_bytes: workers.write_bytes,
            others: workers.others,
        });
        let sum = |figure: fn(&Issuer) -> u64| -> u64 { all.iter().map(figure).sum() };
        let rest = |figure: fn(&Issuer) -> u64| figure(total).saturating_sub(sum(figure));
        let rest = Issuer {
            kind: IssuerKind::Other,
            name: REST.into(),
            reads: rest(|i| i.reads),
            read_bytes: rest(|i| i.read_bytes),
            writes: rest(|i| i.writes),
            write_bytes: rest(|i| i.write_bytes),
            others: rest(|i| i.others),
        };
        all.push(rest);
        merged_issuers(all)
    }
}
