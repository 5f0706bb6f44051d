//! Each rule fires when the figures prove it and not one step earlier, and the list for users is complete.

mod devices;
mod file_systems;
mod limits;
mod others;
mod requests;

use super::*;
use crate::attributes::Attributes;
use crate::counters::{Evictions, ImageGrowth};
use crate::join::calls::Slow;
use crate::join::{Joined, PerCall, Pieces, Still, SyncWaits};
use fathom_record::block::{
    BlockLayer, DepthTime, DeviceActivity, DeviceNumber, Issuer, IssuerKind, RequestClass, RequestStats,
    Seeks, SizeCount,
};
use fathom_record::{
    Axes, CacheIntent, DeviceDelta, Histogram, OpKind, OpStat, Phase, Repetition, Residency, Worker,
};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;

/// A phase with calls of one kind on one watched device.
struct World {
    phase: Phase,
    repetition: Repetition,
    workload: WorkloadTraits,
    environment: serde_json::Value,
    attributes: Attributes,
    evictions: Option<Evictions>,
    swapped_in_bytes: Option<u64>,
    image_growth: Option<ImageGrowth>,
    unshared_bytes: u64,
    allowed_busy_ns: Option<u64>,
    joined: Option<Joined>,
    pieces: Option<Pieces>,
}

impl World {
    fn new(op: OpKind, calls: u64, record: u64) -> Self {
        let stat = OpStat { op, ops: calls, bytes: calls * record, latency: Histogram::default() };
        let worker = Worker { ops: calls, bytes: calls * record, stats: vec![stat], ..Worker::default() };
        let device = DeviceActivity { name: "vda".into(), ..DeviceActivity::default() };
        let block = BlockLayer { watched_ns: 1_000_000_000, devices: vec![device], ..BlockLayer::default() };
        let repetition = Repetition { workers: vec![worker], block: Some(block), ..Repetition::default() };
        let phase = Phase {
            seq: 0,
            name: "random".into(),
            axes: Axes::default(),
            reads: op == OpKind::Read,
            writes: op == OpKind::Write,
            sync_in_clock: false,
            direct: false,
            repetitions: Vec::new(),
        };
        Self {
            phase,
            repetition,
            workload: WorkloadTraits::default(),
            environment: serde_json::Value::Null,
            attributes: Attributes::default(),
            evictions: None,
            swapped_in_bytes: None,
            image_growth: None,
            unshared_bytes: 0,
            allowed_busy_ns: None,
            joined: None,
            pieces: None,
        }
    }

    fn device(&mut self) -> &mut DeviceActivity {
        &mut self.repetition.block.as_mut().expect("made with one").devices[0]
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            phase: &self.phase,
            repetition: &self.repetition,
            workload: &self.workload,
            environment: &self.environment,
            attributes: self.attributes,
            evictions: self.evictions,
            swapped_in_bytes: self.swapped_in_bytes,
            image_growth: self.image_growth.as_ref(),
            unshared_bytes: self.unshared_bytes,
            allowed_busy_ns: self.allowed_busy_ns,
            joined: self.joined.as_ref(),
            pieces: self.pieces,
        }
    }

    fn found(&self) -> Vec<Finding> {
        of(&self.facts())
    }

    /// The sentence of a rule; every finding must have evidence.
    fn says(&self, rule: &str) -> Option<String> {
        let found = self.found();
        assert!(found.iter().all(|f| !f.evidence.is_empty() && !f.sentence.is_empty()), "{found:?}");
        found.into_iter().find(|f| f.rule == rule).map(|f| f.sentence)
    }
}

fn per_call(calls: u64, bytes: u64, requests: u32, request_bytes: u64) -> PerCall {
    PerCall {
        calls,
        bytes,
        requests: BTreeMap::from([(requests, calls)]),
        sizes: BTreeMap::from([(request_bytes, calls * u64::from(requests))]),
    }
}

fn requests(class: RequestClass, issued: u64, each: u64) -> RequestStats {
    RequestStats {
        class,
        issued,
        issued_bytes: issued * each,
        completed: issued,
        completed_bytes: issued * each,
        sizes: vec![SizeCount { bytes: each, count: issued }],
        ..RequestStats::default()
    }
}

#[test]
fn the_list_for_users_has_every_rule_and_no_other() {
    let text = include_str!("../../../../../docs/findings.md");
    let listed: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## `")?.strip_suffix('`')).collect();
    let rules: Vec<&str> = rules().collect();
    let missing: Vec<_> = rules.iter().filter(|rule| !listed.contains(rule)).collect();
    let surplus: Vec<_> = listed.iter().filter(|code| !rules.contains(code)).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "docs/findings.md lacks {missing:?}, and has {surplus:?}"
    );
    let misplaced = rules.iter().zip(&listed).find(|(rule, code)| rule != code);
    assert_eq!(misplaced, None, "the sections are in the order of the rules");
}

/// A number of syncs.
fn syncs(ops: u64) -> OpStat {
    OpStat { op: OpKind::Sync, ops, bytes: 0, latency: Histogram::default() }
}

/// An issuer with this many bytes read.
fn issuer(kind: IssuerKind, read_bytes: u64) -> Issuer {
    Issuer { kind, name: "dd".into(), read_bytes, reads: read_bytes / 4096, ..Issuer::default() }
}

/// A phase whose data moved while the device was idle for 71 % of the time.
fn processors_work_on(op: OpKind) -> World {
    let mut world = World::new(op, 2048, 131_072);
    world.repetition.elapsed_ns = 1_000_000_000;
    let class = if op == OpKind::Read { RequestClass::Read } else { RequestClass::Write };
    world.device().requests = vec![requests(class, 512, 524_288)];
    world.device().busy_ns = 290_000_000;
    world
}

/// A phase that wrote 32 MiB to the first of these devices. The others carry it, and moved bytes in requests of 4 KiB.
fn on_devices(environment: serde_json::Value, below: &[(&str, u64, u64)]) -> World {
    let mut world = World::new(OpKind::Write, 8192, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = environment;
    let name = world.environment["devices"][0]["name"].as_str().expect("a name").to_string();
    let device = |name: &str, level, read: u64, written: u64| DeviceActivity {
        name: name.into(),
        level,
        requests: vec![
            requests(RequestClass::Read, read / 4096, 4096),
            requests(RequestClass::Write, written / 4096, 4096),
        ],
        ..DeviceActivity::default()
    };
    let mut devices = vec![device(&name, 0, 0, 32 * MIB)];
    devices.extend(below.iter().map(|(name, read, written)| device(name, 1, *read, *written)));
    world.repetition.block.as_mut().expect("made with one").devices = devices;
    world
}

/// A request of 100 us on a stack of devices, of which each takes some of the time.
fn on_images(devices: &[(&str, &str, u64)]) -> World {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 200_000_000;
    let mut above = serde_json::Value::Null;
    let (mut described, mut watched) = (Vec::new(), Vec::new());
    for (level, (name, kind, us)) in devices.iter().enumerate() {
        described.push(
            serde_json::json!({ "name": name, "kind": kind, "above": above, "direct_io": *kind == "loop" }),
        );
        above = (*name).into();
        let mut of_reads = requests(RequestClass::Read, 1000, 4096);
        of_reads.d2c = Histogram::from_values([us * 1000; 1000]);
        of_reads.q2d = Histogram::from_values([0; 1000]);
        watched.push(DeviceActivity {
            name: (*name).into(),
            level: u32::try_from(level).expect("few"),
            busy_ns: us * 1_000_000,
            requests: vec![of_reads],
            ..DeviceActivity::default()
        });
    }
    world.environment = serde_json::json!({ "devices": described });
    world.repetition.block.as_mut().expect("made with one").devices = watched;
    world
}

// --- What lies in the workload, or in what memory held.
