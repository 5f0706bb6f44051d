//! The direction of a job, and whether its offsets are random.

use super::super::UsageError;
use super::super::settings::Settings;

/// Direction and order of a job in fio's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rw {
    /// Percentage of reads, 0 to 100.
    pub read_percent: u8,
    /// Whether it both reads and writes.
    pub mixed: bool,
    /// Whether it is named a mix (rw, randrw), even if one direction has no share.
    pub called_mix: bool,
    /// Whether offsets are random.
    pub random: bool,
    /// Whether and how blocks are trimmed.
    pub trims: Trims,
}

/// Use of trims in a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trims {
    /// None.
    #[default]
    No,
    /// Only trims.
    Only,
    /// Trims each block, then writes it.
    BeforeWrites,
}

impl Rw {
    /// Whether the job reads.
    #[must_use]
    pub fn reads(self) -> bool {
        self.mixed || self.read_percent == 100
    }

    /// Whether it modifies its files, by writes or trims.
    #[must_use]
    pub fn writes(self) -> bool {
        self.mixed || self.read_percent == 0
    }

    /// Selects the applicable one of the values for reads, writes and trims. Blocks that are trimmed and then written use the size for
    /// trims.
    #[must_use]
    pub fn own<T>(self, [read, write, trim]: [T; 3]) -> T {
        match self.trims {
            Trims::No if self.reads() => read,
            Trims::No => write,
            Trims::Only | Trims::BeforeWrites => trim,
        }
    }

    /// fio's keyword: "randread", "rw", ...
    #[must_use]
    pub fn word(self) -> &'static str {
        match (self.random, self.trims) {
            (true, Trims::Only) => return "randtrim",
            (false, Trims::Only) => return "trim",
            (true, Trims::BeforeWrites) => return "randtrimwrite",
            (false, Trims::BeforeWrites) => return "trimwrite",
            (_, Trims::No) => {}
        }
        match (self.random, self.called_mix, self.read_percent) {
            (true, true, _) => "randrw",
            (false, true, _) => "rw",
            (true, false, 100) => "randread",
            (true, false, _) => "randwrite",
            (false, false, 100) => "read",
            (false, false, _) => "write",
        }
    }
}

/// Parses the direction.
pub fn direction(s: &Settings) -> Result<Rw, UsageError> {
    let word = s.word("rw").unwrap_or("read").to_owned();
    let trims = match (word.contains("trim"), word.contains("write")) {
        (false, _) => Trims::No,
        (true, false) => Trims::Only,
        (true, true) => Trims::BeforeWrites,
    };
    let called_mix = matches!(word.as_str(), "rw" | "readwrite" | "randrw");
    let percent = match s.last_of(&["rwmixread", "rwmixwrite"]) {
        None => 50,
        Some(name) => {
            let given = s.number(name)?.unwrap_or(50);
            let Ok(percent) = u8::try_from(given).map(|p| p.min(101)) else {
                return Err(s.wrong(name, format!("{name}={given}: 0 to 100 is expected")));
            };
            if percent > 100 {
                return Err(s.wrong(name, format!("{name}={given}: 0 to 100 is expected")));
            }
            if name == "rwmixread" { percent } else { 100 - percent }
        }
    };
    let read_percent = if called_mix {
        percent
    } else if word.contains("read") {
        100
    } else {
        0
    };
    // A mix without writes modifies nothing and needs no permission.
    let mixed = (1..100).contains(&read_percent);
    Ok(Rw { read_percent, mixed, called_mix, random: word.starts_with("rand"), trims })
}
