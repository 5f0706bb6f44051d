//! Every knob as data. The table's order is the order of setting and of restoring: the scheduler first, because changing it resets
//! nr_requests and its tunables; then the other queue settings; then the machine's.

use super::error::KnobError;
use super::files::KnobFiles;
use std::path::Path;

/// Location of a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The queue of the devices that turn bios into requests, below device mapper, md and multipath: `/sys/block/DEVICE/queue`.
    Queue,
    /// The read-ahead of the file system: its disk's queue, or the bdi of a file system without a single disk.
    ReadAhead,
    /// The machine's memory: `/proc/sys/vm`.
    Vm,
}

/// Valid values of a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of those the kernel lists in the file, the current one in brackets.
    Listed,
    /// A whole number.
    Number {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
        /// Unit of the value.
        unit: &'static str,
    },
    /// One of a few numbers.
    OneOf(&'static [&'static str]),
    /// KiB, at most the hardware limit (`max_hw_sectors_kb`).
    RequestKib,
    /// Validated only by the current scheduler.
    Tunable,
}

/// A row of the table.
#[derive(Debug)]
pub struct Entry {
    /// Its name in commands and reports; `iosched/*` means all tunables of a scheduler.
    pub name: &'static str,
    /// Its location.
    pub home: Home,
    /// Its valid values.
    pub values: Values,
    /// Its effect, for lists.
    pub about: &'static str,
}

const fn number(min: i64, max: i64, unit: &'static str) -> Values {
    Values::Number { min, max, unit }
}

/// Largest value of a 32-bit knob.
const U32: i64 = u32::MAX as i64;

/// All knobs, in the order of setting.
pub static ENTRIES: &[Entry] = &[
    Entry {
        name: "scheduler",
        home: Home::Queue,
        values: Values::Listed,
        about: "I/O scheduler of the device",
    },
    Entry {
        name: "nr_requests",
        home: Home::Queue,
        values: number(1, U32, "requests"),
        about: "requests that may wait in the queue",
    },
    Entry {
        name: "iosched/*",
        home: Home::Queue,
        values: Values::Tunable,
        about: "a tunable of the scheduler: iosched/low_latency",
    },
    Entry {
        name: "max_sectors_kb",
        home: Home::Queue,
        values: Values::RequestKib,
        about: "largest request, KiB",
    },
    Entry {
        name: "nomerges",
        home: Home::Queue,
        values: Values::OneOf(&["0", "1", "2"]),
        about: "0 merge requests, 1 only simple merges, 2 none",
    },
    Entry {
        name: "rq_affinity",
        home: Home::Queue,
        values: Values::OneOf(&["0", "1", "2"]),
        about: "where completions run: 0 anywhere, 1 the issuer's CPU group, 2 its CPU",
    },
    Entry {
        name: "wbt_lat_usec",
        home: Home::Queue,
        values: number(-1, i64::MAX, "us"),
        about: "writeback throttling's latency target, us; 0 off, -1 the default",
    },
    Entry {
        name: "read_ahead_kb",
        home: Home::ReadAhead,
        values: number(0, U32, "KiB"),
        about: "most that is read ahead, KiB",
    },
    Entry {
        name: "vm.dirty_bytes",
        home: Home::Vm,
        values: number(0, i64::MAX, "B"),
        about: "dirty memory at which writers must wait, bytes",
    },
    Entry {
        name: "vm.dirty_ratio",
        home: Home::Vm,
        values: number(0, 100, "%"),
        about: "the same, % of available memory",
    },
    Entry {
        name: "vm.dirty_background_bytes",
        home: Home::Vm,
        values: number(0, i64::MAX, "B"),
        about: "dirty memory at which writeback begins, bytes",
    },
    Entry {
        name: "vm.dirty_background_ratio",
        home: Home::Vm,
        values: number(0, 100, "%"),
        about: "the same, % of available memory",
    },
    Entry {
        name: "vm.dirty_expire_centisecs",
        home: Home::Vm,
        values: number(0, U32, "centiseconds"),
        about: "age at which dirty data is written back, 1/100 s",
    },
    Entry {
        name: "vm.dirty_writeback_centisecs",
        home: Home::Vm,
        values: number(0, U32, "centiseconds"),
        about: "how often writeback looks, 1/100 s; 0 never",
    },
    Entry {
        name: "vm.vfs_cache_pressure",
        home: Home::Vm,
        values: number(0, U32, "%"),
        about: "how readily inodes and dentries are dropped",
    },
    Entry {
        name: "vm.swappiness",
        home: Home::Vm,
        values: number(0, 200, ""),
        about: "swap out (200) or drop file pages (0)",
    },
];

/// A knob by its full name.
#[derive(Clone, Debug)]
pub struct Knob {
    /// "read_ahead_kb", "iosched/low_latency".
    pub name: String,
    /// Its row in the table.
    pub entry: &'static Entry,
}

impl PartialEq for Knob {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Knob {
    /// The knob of this name; `None` if there is none.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let tunable = name.strip_prefix("iosched/").is_some_and(is_file_name);
        let row =
            |e: &&Entry| if tunable { e.name == "iosched/*" } else { e.name == name && name != "iosched/*" };
        ENTRIES.iter().find(row).map(|entry| Self { name: name.to_string(), entry })
    }

    /// The knob of this name, or an error that lists all names.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, KnobError> {
        Self::find(name).ok_or_else(|| KnobError::Unknown { name: name.into(), known: names().join(", ") })
    }

    /// Its position in the order of setting.
    #[must_use]
    pub fn rank(&self) -> usize {
        rank_of(&self.name)
    }

    /// Its valid values as a clause. `file` is the knob's own file, for values that the kernel lists.
    #[must_use]
    pub fn allowed(&self, files: &dyn KnobFiles, file: &Path) -> String {
        match self.entry.values {
            Values::Listed => {
                let listed = files.read(file).map(|text| listed(&text).join(", ")).unwrap_or_default();
                format!("the kernel offers {listed}")
            }
            Values::Number { min, max, unit } => {
                let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
                if max >= U32 {
                    format!("a whole number from {min} on is expected{unit}")
                } else {
                    format!("a whole number from {min} to {max} is expected{unit}")
                }
            }
            Values::OneOf(values) => format!("one of {} is expected", values.join(", ")),
            Values::RequestKib => match hardware_kib(files, file) {
                Some(most) => {
                    format!("a whole number of KiB is expected, a page (4) to {most} (max_hw_sectors_kb)")
                }
                None => "a whole number of KiB is expected".into(),
            },
            Values::Tunable => {
                "what it takes is the scheduler's own; see the kernel's documentation of it".into()
            }
        }
    }

    /// Validates a value before anything is set.
    ///
    /// # Errors
    /// If the value is invalid; lists the valid ones.
    pub fn check(&self, files: &dyn KnobFiles, file: &Path, value: &str) -> Result<(), KnobError> {
        let parsed = value.parse::<i64>().ok();
        let good = match self.entry.values {
            Values::Listed => files.read(file).is_ok_and(|text| listed(&text).iter().any(|v| v == value)),
            Values::Number { min, max, .. } => parsed.is_some_and(|n| (min..=max).contains(&n)),
            Values::OneOf(values) => values.contains(&value),
            Values::RequestKib => {
                let most = hardware_kib(files, file).unwrap_or(i64::MAX);
                parsed.is_some_and(|n| (1..=most).contains(&n))
            }
            Values::Tunable => !value.is_empty() && !value.contains(char::is_whitespace),
        };
        if good {
            return Ok(());
        }
        let allowed = self.allowed(files, file);
        Err(KnobError::BadValue { knob: self.name.clone(), value: value.into(), allowed })
    }
}

/// Position of a name in the order of setting; unknown ones last.
#[must_use]
pub fn rank_of(name: &str) -> usize {
    let row = if name.starts_with("iosched/") { "iosched/*" } else { name };
    ENTRIES.iter().position(|e| e.name == row).unwrap_or(ENTRIES.len())
}

/// Names of all knobs.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ENTRIES.iter().map(|e| e.name).collect()
}

/// The current value in a knob's file, in the form that can be written back: the word in brackets of a list.
#[must_use]
pub fn value_in(text: &str) -> String {
    let chosen = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(text.trim()).to_string()
}

/// All words of a list, without the brackets.
#[must_use]
pub fn listed(text: &str) -> Vec<String> {
    text.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_string()).collect()
}

fn hardware_kib(files: &dyn KnobFiles, file: &Path) -> Option<i64> {
    files.trimmed(&file.with_file_name("max_hw_sectors_kb"))?.parse().ok()
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
