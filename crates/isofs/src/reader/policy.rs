//! How a reader reads: elevator, read-ahead, and related switches. Three bundles (`baseline`, `seed`, `modern`), with every part
//! adjustable. Elevators, read-ahead rules and their tunables have the names of crate iopath.

use fathom_iopath::elevator;
use fathom_iopath::{AnyElevator, Limits, Rules, readahead};

/// The bundles by name, with descriptions.
pub const BUNDLES: [(&str, &str); 3] = [
    ("baseline", "a request per logical block, first come first served, nothing read ahead"),
    (
        "seed",
        "the rework of 2007: a one-way sweep with a deadline, adjacent reads joined, four pages read ahead",
    ),
    (
        "modern",
        "windows that double up to 256 KiB per open file, requests of up to 1 MiB, one sweep with a deadline for each class",
    ),
];

/// Kind of medium, as far as it affects the best policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A disc in a drive: one slow head, one command at a time.
    Optical,
    /// Anything else: files, disks.
    Other,
}

/// Default size of the page cache in bytes.
pub const CACHE_BYTES: u64 = 64 << 20;

/// Default time without reads after which it is freed, in seconds.
pub const IDLE_S: u32 = 30;

/// Largest gap that can be read through, in bytes.
pub const MOST_BRIDGE: u32 = 1 << 20;

/// Longest possible request, in bytes.
pub const MOST_TRANSFER: u32 = 16 << 20;

/// Unit of a device request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// One logical block, as before the rework.
    Block,
    /// Whole pages of 4 KiB, as far as they are contiguous on the disc.
    Page,
}

/// The rules of a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Elevator as iopath names it: `clook-hsfs,deadline=500`, `none`.
    pub scheduler: String,
    /// Read-ahead as iopath names it: `hsfs,max=4`, `modern,max=64`, `none`.
    pub read_ahead: String,
    /// Unit of a request before merging.
    pub chunk: Chunk,
    /// Whether adjacent requests are merged.
    pub coalesce: bool,
    /// Longest merged request in bytes.
    pub max_transfer: u32,
    /// Whether each open file has its own read-ahead state; otherwise all readers of a file share one.
    pub per_open: bool,
    /// Whether pages that a sequential reader has passed are evicted first.
    pub free_behind: bool,
    /// Whether failed requests are read again in pieces, down to single blocks.
    pub isolate: bool,
    /// Page cache in bytes.
    pub cache_bytes: u64,
    /// Seconds without reads after which the cache is freed, while no file is open; 0 keeps it.
    pub idle_s: u32,
    /// Whether a request for blocks already being read for another file waits for that read.
    pub attach: bool,
    /// Whether queued read-ahead becomes a demand read once a caller waits for it. Has an effect only with an elevator that knows classes
    /// (`sweep`).
    pub promote: bool,
    /// Whether queued read-ahead is cancelled when its file is closed or its reader goes back.
    pub drop_ahead: bool,
    /// Largest gap between two requests that is read to merge them, in bytes; 0 disables it. Requires `coalesce`.
    pub bridge: u32,
    /// Bytes of following files, in directory order, prefetched after an opened one; 0 disables it.
    pub small_files: u64,
    /// Maximum number of requests in flight at the device.
    pub depth: u32,
    /// Maximum number of threads that read ahead; 0 leaves it to the next caller.
    pub workers: u32,
}

/// An invalid policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There is no bundle of this name.
    #[error("no policy {0:?}; there are baseline, seed, modern")]
    Unknown(String),
    /// An invalid elevator.
    #[error(transparent)]
    Scheduler(#[from] elevator::ElevatorNameError),
    /// An invalid read-ahead rule.
    #[error(transparent)]
    ReadAhead(#[from] readahead::PolicyNameError),
    /// A switch without effect for the elevator.
    #[error("{what} asks for an elevator that knows classes; sweep does, {scheduler:?} does not")]
    Classes {
        /// Name of the switch.
        what: &'static str,
        /// Name of the elevator.
        scheduler: String,
    },
    /// A number outside its range.
    #[error("{what} of {value} bytes; from {least} to {most} are possible")]
    Range {
        /// Name of the number.
        what: &'static str,
        /// The requested value.
        value: u64,
        /// Smallest valid value.
        least: u64,
        /// Largest valid value.
        most: u64,
    },
}

impl Policy {
    /// Before the rework: 2 KiB requests in the order they are made, page by page.
    #[must_use]
    pub fn baseline() -> Self {
        Self {
            scheduler: "none".into(),
            read_ahead: "none".into(),
            chunk: Chunk::Block,
            coalesce: false,
            max_transfer: 16 << 10,
            workers: 0,
            ..Self::seed()
        }
    }

    /// The rework of 2007.
    #[must_use]
    pub fn seed() -> Self {
        Self {
            scheduler: "clook-hsfs".into(),
            read_ahead: "hsfs".into(),
            chunk: Chunk::Page,
            coalesce: true,
            max_transfer: 16 << 10,
            per_open: false,
            free_behind: false,
            isolate: false,
            cache_bytes: CACHE_BYTES,
            idle_s: IDLE_S,
            attach: false,
            promote: false,
            drop_ahead: false,
            bridge: 0,
            small_files: 0,
            depth: 1024,
            workers: 8,
        }
    }

    /// Current rules.
    #[must_use]
    pub fn modern() -> Self {
        Self {
            scheduler: "sweep".into(),
            read_ahead: "modern,max=64".into(),
            max_transfer: 1 << 20,
            per_open: true,
            isolate: true,
            attach: true,
            promote: true,
            drop_ahead: true,
            depth: 32,
            ..Self::seed()
        }
    }

    /// Current rules for a medium. A disc gets one request at a time: with several, the drive's own order (first come, first served)
    /// replaces the elevator's, and the sweep follows one reader while the others starve. Windows are longer there, because a seek costs
    /// as much as half a megabyte; a gap of an error correction block is free in comparison, and adjacent small files are fetched
    /// together.
    #[must_use]
    pub fn modern_on(medium: Medium) -> Self {
        match medium {
            Medium::Optical => Self {
                depth: 1,
                read_ahead: "modern,max=128".into(),
                bridge: 32 << 10,
                small_files: 256 << 10,
                ..Self::modern()
            },
            Medium::Other => Self::modern(),
        }
    }

    /// A bundle by its name.
    ///
    /// # Errors
    /// [`PolicyError::Unknown`].
    pub fn by_name(name: &str) -> Result<Self, PolicyError> {
        match name {
            "baseline" => Ok(Self::baseline()),
            "seed" => Ok(Self::seed()),
            "modern" => Ok(Self::modern()),
            other => Err(PolicyError::Unknown(other.into())),
        }
    }

    /// Whether everything it names exists.
    ///
    /// # Errors
    /// The part that does not.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.elevator()?;
        self.ahead()?;
        Ok(())
    }

    /// Whether its elevator distinguishes demand reads, read-ahead and directories.
    ///
    /// # Errors
    /// The elevator does not exist.
    pub fn knows_classes(&self) -> Result<bool, PolicyError> {
        Ok(knows_classes(&self.elevator()?))
    }

    /// The elevator; one that merges by itself also gets the longest request.
    pub(super) fn elevator(&self) -> Result<AnyElevator, PolicyError> {
        let range = |what, value: u64, least, most| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(PolicyError::Range { what, value, least, most })
            }
        };
        range("a longest request", self.max_transfer.into(), 4096, MOST_TRANSFER.into())?;
        range("a cache", self.cache_bytes, 1 << 20, 1 << 40)?;
        range("a hole", self.bridge.into(), 0, MOST_BRIDGE.into())?;
        range("small files", self.small_files, 0, self.cache_bytes / 4)?;
        let mut elevator = elevator::by_name(&self.scheduler)?;
        if elevator.get("max_transfer").is_some() && !self.scheduler.contains("max_transfer") {
            elevator
                .set("max_transfer", u64::from(self.max_transfer) / 1024)
                .map_err(elevator::ElevatorNameError::Tunable)?;
        }
        Ok(elevator)
    }

    /// Parameters of the queue.
    pub(super) fn rules(&self) -> Rules {
        let limits = Limits {
            max_sectors: self.max_transfer / 512,
            // Every piece is one segment of unknown address: a limit of one segment disables merging.
            max_segments: if self.coalesce { u16::MAX } else { 1 },
            max_segment_sectors: MOST_TRANSFER / 512,
            segment_window: 0,
            joins_across_bios: false,
        };
        Rules::bare(limits)
    }

    /// The read-ahead policy.
    pub(super) fn ahead(&self) -> Result<readahead::Policy, PolicyError> {
        Ok(readahead::by_name(&self.read_ahead)?)
    }
}

/// Whether an elevator distinguishes demand reads, read-ahead and metadata.
pub(super) fn knows_classes(elevator: &AnyElevator) -> bool {
    ["metadata", "sync", "ahead"].iter().all(|name| elevator.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundle_can_be_had() {
        for (name, _) in BUNDLES {
            let policy = Policy::by_name(name).unwrap();
            policy.elevator().unwrap();
            policy.ahead().unwrap();
        }
        assert_eq!(
            Policy::by_name("old").unwrap_err().to_string(),
            "no policy \"old\"; there are baseline, seed, modern"
        );
    }

    #[test]
    fn a_disc_gets_one_request_at_a_time_and_long_windows() {
        let (disc, file) = (Policy::modern_on(Medium::Optical), Policy::modern_on(Medium::Other));
        assert_eq!((disc.depth, file.depth, &file), (1, 32, &Policy::modern()));
        assert_eq!((disc.bridge, file.bridge, disc.small_files), (32 << 10, 0, 256 << 10));
        disc.check().unwrap();
        let windows = |policy: &Policy| format!("{:?}", policy.ahead().unwrap());
        assert_ne!(windows(&disc), windows(&file));
    }

    #[test]
    fn the_sweep_learns_the_longest_request_unless_configured() {
        let longest = |scheduler: &str| {
            let policy = Policy { scheduler: scheduler.into(), max_transfer: 128 << 10, ..Policy::seed() };
            policy.elevator().unwrap().get("max_transfer")
        };
        assert_eq!(longest("clook-hsfs"), Some(128));
        assert_eq!(longest("clook-hsfs,max_transfer=8"), Some(8));
        assert_eq!(longest("mq-deadline"), None);
    }

    #[test]
    fn only_the_sweep_knows_classes() {
        let knows =
            |scheduler: &str| Policy { scheduler: scheduler.into(), ..Policy::modern() }.knows_classes();
        assert_eq!(
            (knows("sweep,ahead=900"), knows("mq-deadline"), knows("none")),
            (Ok(true), Ok(false), Ok(false))
        );
        assert!(knows("wild").is_err());
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let policy = Policy { bridge: MOST_BRIDGE + 1, ..Policy::seed() };
        assert!(policy.elevator().unwrap_err().to_string().starts_with("a hole of 1048577 bytes"));
        assert!(Policy { small_files: 17 << 20, ..Policy::seed() }.elevator().is_err());
        let policy = Policy { max_transfer: 512, ..Policy::seed() };
        assert!(policy.elevator().unwrap_err().to_string().contains("from 4096 to 16777216"));
        assert!(Policy { cache_bytes: 0, ..Policy::seed() }.elevator().is_err());
        assert!(Policy { read_ahead: "wild".into(), ..Policy::seed() }.ahead().is_err());
    }
}
