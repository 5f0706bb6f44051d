//! Options that say how contents are read (a policy and its switches), and the counters as JSON.

use crate::exit::Usage;
use clap::{Args, ValueEnum};
use fathom_isofs::reader::{BUNDLES, Chunk, Counters, Medium, Policy, PolicyError};
use fathom_workload::Bytes;
use serde_json::json;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

/// How contents are read.
#[derive(Clone, Debug, Args)]
pub struct ImageReading {
    /// Preset: before 2007, after the rework of 2007, or today. Other options here change single values, by default of modern
    #[arg(long, value_name = "POLICY", help_heading = "How contents are read")]
    pub policy: Option<Bundle>,
    /// Elevator with tunables, such as clook-hsfs,deadline=5, or none [default: the policy's]
    #[arg(long, value_name = "ELEVATOR", help_heading = "How contents are read")]
    pub scheduler: Option<String>,
    /// Read-ahead with tunables, such as hsfs,max=8, or none [default: the policy's]
    #[arg(long, value_name = "RULES", help_heading = "How contents are read")]
    pub read_ahead: Option<String>,
    /// Unit of requests: single logical blocks, or pages of 4 KiB
    #[arg(long, value_name = "UNIT", help_heading = "How contents are read")]
    pub chunk: Option<Unit>,
    /// Whether adjacent requests are joined
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub coalesce: Option<Switch>,
    /// Longest joined request, such as 16KiB
    #[arg(long, value_name = "SIZE", help_heading = "How contents are read")]
    pub max_transfer: Option<Bytes>,
    /// Whether each open file has separate read-ahead; off: all readers of a file share it
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub per_open: Option<Switch>,
    /// Whether pages behind a sequential reader are evicted first
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub free_behind: Option<Switch>,
    /// Whether a failed request is retried in smaller parts
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub isolate: Option<Switch>,
    /// Size of the page cache [default: 64MiB]
    #[arg(long, value_name = "SIZE", help_heading = "How contents are read")]
    pub cache_size: Option<Bytes>,
    /// Free the page cache after N seconds without a read while no file is open; 0 keeps it [default: 30]
    #[arg(long, value_name = "SECONDS", help_heading = "How contents are read")]
    pub cache_idle: Option<u32>,
    /// Whether a reader waits for blocks that another file's read has in flight, instead of reading them itself
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub attach: Option<Switch>,
    /// Whether queued read-ahead gets the priority of a demand read once a reader waits for it (elevator sweep)
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub promote: Option<Switch>,
    /// Whether queued read-ahead is cancelled when its file is closed or its reader seeks backwards
    #[arg(long, value_name = "SWITCH", help_heading = "How contents are read")]
    pub drop_ahead: Option<Switch>,
    /// Largest gap that is read along to merge two requests, 0 to 1MiB [default: 32KiB under modern from a disc in a drive, else 0]
    #[arg(long, value_name = "SIZE", help_heading = "How contents are read")]
    pub bridge: Option<Bytes>,
    /// Maximum number of requests in flight at the device, 1 to 1024
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "How contents are read")]
    pub depth: Option<u32>,
    /// Maximum number of read-ahead threads, 0 to 256
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

impl Bundle {
    /// The library's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => BUNDLES[0].0,
            Self::Seed => BUNDLES[1].0,
            Self::Modern => BUNDLES[2].0,
        }
    }

    /// The policy on a medium; the older ones exist only for discs.
    pub fn on(self, medium: Medium) -> Policy {
        match self {
            Self::Baseline => Policy::baseline(),
            Self::Seed => Policy::seed(),
            Self::Modern => Policy::modern_on(medium),
        }
    }
}

/// Whether an image is a disc in a drive.
pub fn medium_of(image: &Path) -> Medium {
    let number = std::fs::metadata(image).ok().filter(|about| about.file_type().is_block_device());
    let Some(number) = number.map(|about| about.rdev()) else { return Medium::Other };
    let sys = format!("/sys/dev/block/{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    medium_by(Path::new(&sys))
}

/// By the device's sysfs directory: SCSI type 5 is a CD/DVD drive; other drivers also use the name "sr".
fn medium_by(sys: &Path) -> Medium {
    let scsi = std::fs::read_to_string(sys.join("device/type")).is_ok_and(|kind| kind.trim() == "5");
    let name = std::fs::canonicalize(sys).ok().and_then(|dir| Some(dir.file_name()?.to_str()?.to_owned()));
    let named = name.and_then(|name| name.strip_prefix("sr")?.parse::<u32>().ok()).is_some();
    if scsi || named { Medium::Optical } else { Medium::Other }
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

impl ImageReading {
    /// Whether any option was given.
    pub fn is_asked(&self) -> bool {
        let parts = [self.coalesce, self.per_open, self.free_behind, self.isolate];
        let mut switches = parts.into_iter().chain([self.attach, self.promote, self.drop_ahead]);
        let sizes = [self.max_transfer, self.cache_size, self.bridge];
        self.policy.is_some()
            || self.scheduler.is_some()
            || self.read_ahead.is_some()
            || self.chunk.is_some()
            || self.cache_idle.is_some()
            || self.depth.is_some()
            || self.helpers.is_some()
            || switches.any(|switch| switch.is_some())
            || sizes.iter().any(Option::is_some)
    }

    /// The policy with its switches for an image.
    pub fn wished(&self, image: &Path) -> Result<Policy, Usage> {
        let mut policy = self.policy.unwrap_or(Bundle::Modern).on(medium_of(image));
        let is_on = |switch: Switch| switch == Switch::On;
        let set = |to: &mut bool, wish: Option<Switch>| *to = wish.map_or(*to, is_on);
        set(&mut policy.coalesce, self.coalesce);
        set(&mut policy.per_open, self.per_open);
        set(&mut policy.free_behind, self.free_behind);
        set(&mut policy.isolate, self.isolate);
        set(&mut policy.attach, self.attach);
        set(&mut policy.promote, self.promote);
        set(&mut policy.drop_ahead, self.drop_ahead);
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
        policy.idle_s = self.cache_idle.unwrap_or(policy.idle_s);
        if let Some(Bytes(bytes)) = self.bridge {
            policy.bridge = u32::try_from(bytes).unwrap_or(u32::MAX);
        }
        let wrong = |why: String| Usage(format!("how contents are read: {why}"));
        policy.check().map_err(|e| wrong(e.to_string()))?;
        if self.promote == Some(Switch::On) && policy.knows_classes() != Ok(true) {
            let scheduler = policy.scheduler;
            return Err(wrong(PolicyError::Classes { what: "--promote on", scheduler }.to_string()));
        }
        if !policy.coalesce && self.bridge.is_some_and(|Bytes(bytes)| bytes > 0) {
            return Err(wrong("--bridge makes two requests one, which --coalesce off forbids".into()));
        }
        Ok(policy)
    }
}

/// A reader's counters with its back-end.
pub fn report(policy: &Policy, counters: &Counters, backend: serde_json::Value) -> serde_json::Value {
    let sizes = counters.sizes.iter();
    let class = |n: usize| if n == 0 { 0 } else { 512_u64 << (n - 1) };
    let distances = counters.distances.iter().enumerate().filter(|&(_, &count)| count > 0);
    let mut report = json!({
        "schema": "fathom-iso-counters/1",
        "scheduler": policy.scheduler,
        "read_ahead": policy.read_ahead,
        "backend": backend,
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
    });
    let more = [
        ("pieces_attached", counters.attached),
        ("requests_promoted", counters.promoted),
        ("pages_withdrawn", counters.pages_withdrawn),
        ("holes_bridged", counters.bridged),
        ("hole_bytes", counters.bridged_bytes),
        ("pages_of_small_files", counters.pages_small_files),
        ("directory_requests", counters.directory_reads),
        ("directory_bytes", counters.directory_bytes),
        ("directories_in_advance", counters.directories),
        ("pages_given_back", counters.pages_given_back),
        ("cache_bytes", counters.cache_bytes),
        ("cache_limit_bytes", counters.cache_limit),
    ];
    for (name, count) in more {
        report[name] = count.into();
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_drive_for_discs_is_known_by_its_type_or_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let device = |name: &str, kind: Option<&str>| {
            let sys = dir.path().join(name);
            fs::create_dir_all(sys.join("device")).unwrap();
            if let Some(kind) = kind {
                fs::write(sys.join("device/type"), kind).unwrap();
            }
            medium_by(&sys)
        };
        assert_eq!((device("sda", Some("0\n")), device("vda", None)), (Medium::Other, Medium::Other));
        assert_eq!((device("cd", Some("5\n")), device("sr0", None)), (Medium::Optical, Medium::Optical));
        assert_eq!(medium_of(Path::new("/no/such/image")), Medium::Other);
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        reading: ImageReading,
    }

    fn wished(words: &[&str]) -> Result<Policy, String> {
        let words = std::iter::once("x").chain(words.iter().copied());
        let line = <Line as clap::Parser>::try_parse_from(words).unwrap();
        line.reading.wished(Path::new("/no/such/image")).map_err(|e| e.to_string())
    }

    #[test]
    fn what_nothing_would_come_of_is_refused() {
        let error = wished(&["--promote", "on", "--scheduler", "mq-deadline"]).unwrap_err();
        assert!(error.contains("an elevator that knows classes"), "{error}");
        let error = wished(&["--coalesce", "off", "--bridge", "32KiB"]).unwrap_err();
        assert!(error.contains("--coalesce off forbids"), "{error}");
        assert!(wished(&["--bridge", "2MiB"]).unwrap_err().contains("a hole of 2097152 bytes"));
        let policy = wished(&["--coalesce", "off", "--promote", "on", "--cache-idle", "0"]).unwrap();
        assert!(policy.promote && !policy.coalesce && policy.idle_s == 0);
    }

    /// The help matches the library's defaults.
    #[test]
    fn defaults_are_those_of_the_help() {
        use fathom_isofs::reader::{CACHE_BYTES, IDLE_S};
        let policy = wished(&[]).unwrap();
        assert_eq!((policy.cache_bytes, policy.idle_s), (CACHE_BYTES, IDLE_S));
        assert_eq!((CACHE_BYTES, IDLE_S), (64 << 20, 30));
        assert_eq!((policy.bridge, policy.small_files), (0, 0));
        let disc = Bundle::Modern.on(Medium::Optical);
        assert_eq!((disc.bridge, disc.small_files), (32 << 10, 256 << 10));
        let report = report(&policy, &Counters { cache_limit: 64 << 20, ..Counters::default() }, json!({}));
        assert_eq!(report["cache_limit_bytes"], 64 << 20);
    }

    #[test]
    fn only_the_policy_of_today_asks_what_it_reads_from() {
        assert_eq!(Bundle::Modern.on(Medium::Optical).depth, 1);
        assert_eq!(Bundle::Seed.on(Medium::Optical), Policy::seed());
    }
}
