//! Elevators by name: `NAME[@VERSION][,tunable=value...]`, as in `deadline@2.6.0,fifo_batch=8`. A kernel version selects the rules that
//! this kernel had under that name; without one the newest rules are used. Errors list the valid choices.

use super::anticipatory::Anticipatory;
use super::bfq::BfqLite;
use super::cfq::{Cfq1, Cfq2, Cfq3};
use super::clook::ClookHsfs;
use super::deadline::{Deadline, Generation, MqDeadline};
use super::fifo::{Fifo, Search};
use super::kyber::Kyber;
use super::linus24::Linus24;
use super::sweep::Sweep;
use super::{AnyElevator, Elevator as _};
use crate::tunable::{self, TunableError};

/// Why a name does not give an elevator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElevatorNameError {
    /// No elevator has this name and version.
    #[error("no elevator {name:?}; there are {}", known().collect::<Vec<_>>().join(", "))]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// The name exists, but not in that kernel.
    #[error("{name} has no version {version:?}; it has {range}")]
    Version {
        /// The scheduler.
        name: &'static str,
        /// The requested version.
        version: String,
        /// The kernels that had it.
        range: String,
    },
    /// Not `name=number`.
    #[error("{text:?} is not a tunable and a whole number, as in fifo_batch=8")]
    Setting {
        /// The malformed text.
        text: String,
    },
    /// An unknown tunable, or a value out of range.
    #[error(transparent)]
    Tunable(#[from] TunableError),
}

/// A kernel's version, up to three numbers.
type Version = [u32; 3];

/// One set of rules: (name, first kernel, last kernel, full name with version, constructor).
struct Entry {
    name: &'static str,
    first: Version,
    last: Version,
    full: &'static str,
    make: fn() -> AnyElevator,
}

const TODAY: Version = [6, u32::MAX, u32::MAX];

/// Version of elevators that no kernel has.
const OURS: Version = [0, 0, 1];

/// Upper end of a version range: matches any last number.
const ANY: u32 = u32::MAX;

const fn entry(
    full: &'static str,
    name: &'static str,
    first: Version,
    last: Version,
    make: fn() -> AnyElevator,
) -> Entry {
    Entry { name, first, last, full, make }
}

const ENTRIES: [Entry; 17] = [
    entry("linus24@2.4.23", "linus24", [2, 4, 0], [2, 4, ANY], || AnyElevator::Linus24(Linus24::default())),
    entry("noop@2.6.0", "noop", [2, 6, 0], [2, 6, 11], || AnyElevator::Noop(Fifo::new(Search::Scan))),
    entry("noop@2.6.12", "noop", [2, 6, 12], [4, 20, ANY], || AnyElevator::Noop(Fifo::new(Search::Ends))),
    entry("deadline@2.6.0", "deadline", [2, 6, 0], [2, 6, 23], || {
        AnyElevator::Deadline(Deadline::new(Generation::V2_6_0))
    }),
    entry("deadline@2.6.24", "deadline", [2, 6, 24], [4, 20, ANY], || {
        AnyElevator::Deadline(Deadline::new(Generation::V2_6_24))
    }),
    entry("as@2.6.12", "as", [2, 6, 0], [2, 6, 32], || AnyElevator::Anticipatory(Anticipatory::default())),
    entry("cfq1@2.6.6", "cfq", [2, 6, 6], [2, 6, 8], || AnyElevator::Cfq1(Cfq1::default())),
    entry("cfq2@2.6.9", "cfq", [2, 6, 9], [2, 6, 12], || AnyElevator::Cfq2(Cfq2::default())),
    entry("cfq3@2.6.13", "cfq", [2, 6, 13], [2, 6, 29], || AnyElevator::Cfq3(Cfq3::before_2_6_30())),
    entry("cfq3@2.6.30", "cfq", [2, 6, 30], [4, 20, ANY], || AnyElevator::Cfq3(Cfq3::default())),
    entry("clook-hsfs@2007", "clook-hsfs", [0; 3], [0; 3], || AnyElevator::ClookHsfs(ClookHsfs::default())),
    entry("sweep@fathom", "sweep", OURS, OURS, || AnyElevator::Sweep(Sweep::default())),
    entry("none@4.11", "none", [4, 11, 0], TODAY, || AnyElevator::None(Fifo::new(Search::LastOfCpu))),
    entry("kyber@4.12", "kyber", [4, 12, 0], TODAY, || AnyElevator::Kyber(Kyber::default())),
    entry("bfq-lite@4.12", "bfq-lite", [4, 12, 0], TODAY, || AnyElevator::BfqLite(BfqLite::default())),
    entry("mq-deadline@4.11", "mq-deadline", [4, 11, 0], [5, 13, ANY], || {
        AnyElevator::Deadline(Deadline::new(Generation::Mq4_11))
    }),
    entry("mq-deadline@5.14", "mq-deadline", [5, 14, 0], TODAY, || {
        AnyElevator::MqDeadline(MqDeadline::default())
    }),
];

/// The full names of all sets of rules.
pub fn known() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.full)
}

/// The kernels that had the rules of a full name, in words; `None` if the name is unknown.
pub fn kernels(full: &str) -> Option<String> {
    ENTRIES.iter().find(|entry| entry.full == full).map(Entry::range)
}

/// Makes an elevator.
///
/// # Errors
/// No such name, no such version of it, no such tunable, a value out of range.
pub fn by_name(text: &str) -> Result<AnyElevator, ElevatorNameError> {
    let (name, settings) = tunable::words(text);
    let mut elevator = (entry_of(name)?.make)();
    let mut given = Vec::new();
    for setting in settings {
        let (name, value) = setting.map_err(|word| ElevatorNameError::Setting { text: word.to_string() })?;
        elevator.set(name, value)?;
        tunable::once(elevator.name(), &mut given, name)?;
    }
    Ok(elevator)
}

/// A name completed with what its elevator needs to know of the device but the name does not say: whether it rotates.
///
/// # Errors
/// As [`by_name`].
pub fn on_device(text: &str, rotates: bool) -> Result<String, ElevatorNameError> {
    const ROTATES: &str = "rotational";
    let asks = by_name(text)?.get(ROTATES).is_some_and(|taken| taken != u64::from(rotates));
    let said = tunable::words(text).1.flatten().any(|(name, _)| name == ROTATES);
    let more = if asks && !said { format!(",{ROTATES}={}", u8::from(rotates)) } else { String::new() };
    Ok(format!("{text}{more}"))
}

fn entry_of(text: &str) -> Result<&'static Entry, ElevatorNameError> {
    // Of two with the same own name, the newer one.
    let known = |entry: &&Entry| entry.full == text || entry.generation() == text;
    if let Some(entry) = ENTRIES.iter().rfind(known) {
        return Ok(entry);
    }
    let (name, version) = text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)));
    let mut named = ENTRIES.iter().filter(|entry| entry.name == name);
    let Some(version) = version else {
        return named.next_back().ok_or_else(|| ElevatorNameError::Unknown { name: text.to_string() });
    };
    let Some(any) = named.clone().next() else {
        return Err(ElevatorNameError::Unknown { name: text.to_string() });
    };
    let asked = version_of(version);
    named.find(|entry| asked.is_some_and(|asked| (entry.first..=entry.last).contains(&asked))).ok_or_else(
        || {
            let ranges = ENTRIES.iter().filter(|entry| entry.name == name).map(Entry::range);
            let range = ranges.collect::<Vec<_>>().join(", ");
            ElevatorNameError::Version { name: any.name, version: version.to_string(), range }
        },
    )
}

impl Entry {
    /// A separate name where several generations share one: cfq1, cfq2, cfq3.
    fn generation(&self) -> &'static str {
        let own = self.full.split('@').next().unwrap_or_default();
        if own == self.name { self.full } else { own }
    }

    fn range(&self) -> String {
        if self.last == [0; 3] {
            "HSFS of Solaris, 2007".to_string()
        } else if self.last == OURS {
            "none; the reader of images here".to_string()
        } else if self.last == TODAY {
            format!("{} and later", shown(self.first))
        } else if self.last == [self.first[0], self.first[1], ANY] {
            shown(self.last)
        } else {
            format!("{} to {}", shown(self.first), shown(self.last))
        }
    }
}

/// "2.6.24", "5.14", "2.4".
fn shown([major, minor, last]: Version) -> String {
    if last == ANY || major > 2 && last == 0 {
        format!("{major}.{minor}")
    } else {
        format!("{major}.{minor}.{last}")
    }
}

/// Parses "2.6.24" or "6.18"; a missing last number is 0, and anything after a dash is ignored ("2.6.6-rc3").
fn version_of(text: &str) -> Option<Version> {
    let numbers = text.split('-').next().unwrap_or_default();
    let mut version = [0; 3];
    let mut count = 0;
    for part in numbers.split('.') {
        *version.get_mut(count)? = part.parse().ok()?;
        count += 1;
    }
    (count >= 2).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_full_name_makes_the_elevator_of_that_name() {
        for full in known() {
            assert_eq!(by_name(full).map(|elevator| elevator.name()), Ok(full));
        }
    }

    #[test]
    fn a_kernels_version_selects_its_rules() {
        let named = |text: &str| by_name(text).map(|elevator| elevator.name());
        assert_eq!(named("deadline@2.6.5"), Ok("deadline@2.6.0"));
        assert_eq!(named("deadline@2.6.24-rc8"), Ok("deadline@2.6.24"));
        assert_eq!(named("deadline"), Ok("deadline@2.6.24"));
        assert_eq!(named("cfq@2.6.6-rc3"), Ok("cfq1@2.6.6"));
        assert_eq!(named("cfq2"), Ok("cfq2@2.6.9"));
        assert_eq!(named("cfq@3.10"), Ok("cfq3@2.6.30"));
        assert_eq!(named("cfq3"), Ok("cfq3@2.6.30"));
        assert_eq!(named("cfq@2.6.18"), Ok("cfq3@2.6.13"));
        assert_eq!(named("noop@2.6.6"), Ok("noop@2.6.0"));
        assert_eq!(named("mq-deadline@6.18"), Ok("mq-deadline@5.14"));
        assert_eq!(named("linus24@2.4.25"), Ok("linus24@2.4.23"));
        assert_eq!(named("clook-hsfs"), Ok("clook-hsfs@2007"));
        assert_eq!(named("sweep"), Ok("sweep@fathom"));
    }

    #[test]
    fn tunables_are_set_by_name() {
        let elevator = by_name("deadline@2.6.0, fifo_batch=8,read_expire = 100").unwrap();
        assert_eq!((elevator.get("fifo_batch"), elevator.get("read_expire")), (Some(8), Some(100)));
        assert!(by_name("deadline,fifo_batch=0").unwrap_err().to_string().contains("outside 1 to"));
    }

    #[test]
    fn a_tunable_is_given_once() {
        let twice = by_name("deadline,fifo_batch=8,fifo_batch=9").unwrap_err().to_string();
        assert_eq!(twice, "deadline@2.6.24: fifo_batch is given twice; once is enough");
        assert!(by_name("deadline,fifo_batch=8,read_expire=9").is_ok());
    }

    #[test]
    fn who_asks_whether_the_device_rotates_is_told() {
        let on = |text: &str, rotates| on_device(text, rotates).unwrap();
        assert_eq!(on("bfq-lite", true), "bfq-lite");
        assert_eq!(on("bfq-lite@6.18,slice_idle=4", false), "bfq-lite@6.18,slice_idle=4,rotational=0");
        assert_eq!(on("bfq-lite, rotational = 1", false), "bfq-lite, rotational = 1");
        assert_eq!(on("mq-deadline", false), "mq-deadline");
        assert_eq!(by_name(&on("bfq-lite", false)).unwrap().get("rotational"), Some(0));
        assert!(on_device("sstf", false).is_err());
    }

    #[test]
    fn errors_say_what_exists() {
        let unknown = by_name("sstf").unwrap_err().to_string();
        assert!(
            unknown.starts_with("no elevator \"sstf\"; there are ") && unknown.contains("noop@2.6.12"),
            "{unknown}"
        );
        assert_eq!(
            by_name("noop@6.1").unwrap_err().to_string(),
            "noop has no version \"6.1\"; it has 2.6.0 to 2.6.11, 2.6.12 to 4.20"
        );
        assert!(by_name("noop@x").is_err());
        let cfq = by_name("cfq@2.6.5").unwrap_err().to_string();
        assert!(
            cfq.ends_with("it has 2.6.6 to 2.6.8, 2.6.9 to 2.6.12, 2.6.13 to 2.6.29, 2.6.30 to 4.20"),
            "{cfq}"
        );
        assert!(by_name("noop,batch").unwrap_err().to_string().contains("fifo_batch=8"));
    }
}
