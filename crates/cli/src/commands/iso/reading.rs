//! The options that say how contents are read: a policy and its switches, one definition each, and what was counted, as JSON.

use crate::exit::Usage;
use clap::{Args, ValueEnum};
use fathom_isofs::reader::{BUNDLES, Chunk, Counters, Policy};
use fathom_workload::Bytes;
use serde_json::json;

/// How contents are read.
#[derive(Clone, Debug, Args)]
pub struct Reading {
    /// As before 2007, as after the rework of that year, or as today (which is what the rest starts from)
    #[arg(long, value_name = "POLICY", help_heading = "How contents are read")]
    pub policy: Option<Bundle>,
    /// Another elevator than the policy's, with tunables: clook-hsfs,deadline=5; none
    #[arg(long, value_name = "ELEVATOR", help_heading = "How contents are read")]
    pub scheduler: Option<String>,
    /// Another read-ahead than the policy's, with tunables: hsfs,max=8; none
    #[arg(long, value_name = "RULES", help_heading = "How contents are read")]
    pub read_ahead: Option<String>,
    /// What requests are made of: single logical blocks, or pages of 4 KiB
    #[arg(long, value_name = "UNIT", help_heading = "How contents are read")]
    pub chunk: Option<Unit>,
    /// Whether adjacent requests are joined
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub coalesce: Option<Switch>,
    /// Longest joined request, such as 16KiB
    #[arg(long, value_name = "SIZE", help_heading = "How contents are read")]
    pub max_transfer: Option<Bytes>,
    /// Whether each open file has read-ahead of its own; off: all readers of a file share it
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub per_open: Option<Switch>,
    /// Whether pages behind a sequential reader are the first to be dropped
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub free_behind: Option<Switch>,
    /// Whether what a failed request held is read again in smaller parts
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub isolate: Option<Switch>,
    /// Size of the page cache
    #[arg(long, value_name = "SIZE", help_heading = "How contents are read")]
    pub cache_size: Option<Bytes>,
    /// Most requests with the device at once, 1 to 1024
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "How contents are read")]
    pub depth: Option<u32>,
    /// Most threads that read ahead, 0 to 256
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=256), help_heading = "How contents are read")]
    pub helpers: Option<u32>,
}

/// `--policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bundle {
    /// A request per logical block, nothing read ahead
    Baseline,
    /// A one-way sweep, adjacent reads joined, four pages read ahead
    Seed,
    /// Windows up to 256 KiB per open file, requests up to 1 MiB
    Modern,
}

/// `--chunk`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Unit {
    /// Logical blocks
    Block,
    /// Pages of 4 KiB
    Page,
}

/// A part of a policy on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// With it
    On,
    /// Without it
    Off,
}

impl Reading {
    /// Whether any of it was asked for.
    pub fn is_asked(&self) -> bool {
        let switches = [self.coalesce, self.per_open, self.free_behind, self.isolate];
        self.policy.is_some()
            || self.scheduler.is_some()
            || self.read_ahead.is_some()
            || self.chunk.is_some()
            || self.max_transfer.is_some()
            || self.cache_size.is_some()
            || self.depth.is_some()
            || self.helpers.is_some()
            || switches.iter().any(Option::is_some)
    }

    /// The policy with its switches.
    pub fn wished(&self) -> Result<Policy, Usage> {
        let name = match self.policy {
            Some(Bundle::Baseline) => BUNDLES[0].0,
            Some(Bundle::Seed) => BUNDLES[1].0,
            Some(Bundle::Modern) | None => BUNDLES[2].0,
        };
        let mut policy = Policy::by_name(name).map_err(|e| Usage(format!("--policy: {e}")))?;
        let is_on = |switch: Switch| switch == Switch::On;
        let set = |to: &mut bool, wish: Option<Switch>| *to = wish.map_or(*to, is_on);
        set(&mut policy.coalesce, self.coalesce);
        set(&mut policy.per_open, self.per_open);
        set(&mut policy.free_behind, self.free_behind);
        set(&mut policy.isolate, self.isolate);
        policy.scheduler = self.scheduler.clone().unwrap_or(policy.scheduler);
        policy.read_ahead = self.read_ahead.clone().unwrap_or(policy.read_ahead);
        policy.depth = self.depth.unwrap_or(policy.depth);
        policy.workers = self.helpers.unwrap_or(policy.workers);
        policy.chunk = match self.chunk {
            None => policy.chunk,
            Some(Unit::Block) => Chunk::Block,
            Some(Unit::Page) => Chunk::Page,
        };
        if let Some(Bytes(bytes)) = self.max_transfer {
            policy.max_transfer = u32::try_from(bytes).unwrap_or(u32::MAX);
        }
        if let Some(Bytes(bytes)) = self.cache_size {
            policy.cache_bytes = bytes;
        }
        policy.check().map_err(|e| Usage(format!("how contents are read: {e}")))?;
        Ok(policy)
    }
}

/// What a reader counted.
pub fn told(policy: &Policy, counters: &Counters) -> serde_json::Value {
    let sizes = counters.sizes.iter();
    let class = |n: usize| if n == 0 { 0 } else { 512_u64 << (n - 1) };
    let distances = counters.distances.iter().enumerate().filter(|&(_, &count)| count > 0);
    json!({
        "schema": "fathom-iso-counters/1",
        "scheduler": policy.scheduler,
        "read_ahead": policy.read_ahead,
        "pages_asked": counters.pages_asked,
        "pages_cached": counters.pages_cached,
        "pages_read": counters.pages_read,
        "pages_read_ahead": counters.pages_ahead,
        "pages_read_ahead_unused": counters.pages_unused,
        "pages_without_room": counters.pages_no_room,
        "pages_failed": counters.pages_failed,
        "requests": counters.requests,
        "request_bytes": counters.bytes,
        "requests_joined": counters.joined,
        "retries": counters.retries,
        "requests_by_size": sizes.map(|(bytes, count)| json!({"at_most_bytes": bytes, "count": count}))
            .collect::<Vec<_>>(),
        "requests_by_distance": distances
            .map(|(n, count)| json!({"at_least_bytes": class(n), "count": count}))
            .collect::<Vec<_>>(),
        "queued_ns": counters.queued.0,
        "queued_longest_ns": counters.queued_longest.0,
        "served_ns": counters.served.0,
        "served_longest_ns": counters.served_longest.0,
        "in_flight_most": counters.deepest,
        "deadlines_expired": counters.expired,
    })
}
