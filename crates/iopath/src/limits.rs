//! Device limits per request: length, segments, segment size and the address boundaries that a segment may not cross. Presets with their
//! sources; the merge rules keep every request within them. A name may be followed by overrides, as in `cciss,max_segments=64`.

use crate::tunable::{Tunable, TunableError, Unit, check, once, words};

/// The limits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest request in sectors of 512 bytes.
    pub max_sectors: u32,
    /// Maximum number of physical segments of a request.
    pub max_segments: u16,
    /// Longest segment in units of 512 bytes.
    pub max_segment_sectors: u32,
    /// A segment must lie within one window of this many units of 512 bytes of physical memory (a power of two; 0: no such limit).
    pub segment_window: u32,
    /// Whether the last segment of a bio may join the first of the next. Kernels since 5.2 no longer consider this when counting.
    pub joins_across_bios: bool,
}

impl Limits {
    /// IDE under 2.4: 128 KiB, a table of 256 entries that do not cross 64 KiB.
    pub const IDE_24: Self = Self { max_segments: 128, ..Self::IDE_26 };
    /// IDE under 2.6.5: 128 KiB, a table of 256 entries that do not cross 64 KiB (table format from the PCI IDE bus master
    /// specification).
    pub const IDE_26: Self = Self {
        max_sectors: 256,
        max_segments: 256,
        max_segment_sectors: 128,
        segment_window: 128,
        joins_across_bios: true,
    };
    /// HP SmartArray under 2.6: 512 sectors, 31 scatter entries per command (the driver's source), 64 KiB per segment (the 2.6 block
    /// layer's default).
    pub const CCISS: Self = Self {
        max_sectors: 512,
        max_segments: 31,
        max_segment_sectors: 128,
        segment_window: 0,
        joins_across_bios: true,
    };
    /// Disks with tagged commands on a SCSI or SATA adapter under 2.6: 512 KiB and 128 entries, the SCSI layer's own numbers.
    pub const SCSI_26: Self = Self {
        max_sectors: 1024,
        max_segments: 128,
        max_segment_sectors: 128,
        segment_window: 0,
        joins_across_bios: true,
    };
    /// A loop device of 6.18, read from its queue directory: max_sectors_kb 1280, max_segments 128, max_segment_size 65536.
    pub const LOOP_618: Self = Self {
        max_sectors: 2560,
        max_segments: 128,
        max_segment_sectors: 128,
        segment_window: 0,
        joins_across_bios: false,
    };
    /// Optical drives and other devices with unknown limits: 128 KiB.
    pub const UNKNOWN: Self = Self {
        max_sectors: 256,
        max_segments: 128,
        max_segment_sectors: 128,
        segment_window: 0,
        joins_across_bios: true,
    };

    /// The presets by name, for profiles: (name, limits, source).
    pub const PRESETS: [(&'static str, Self, &'static str); 6] = [
        ("ide-2.4", Self::IDE_24, "2.4.32 source; entries halved as in the driver's worst case"),
        ("ide-2.6", Self::IDE_26, "2.6.5 source"),
        ("cciss", Self::CCISS, "2.6.22 driver source; segment size: block layer's default"),
        ("scsi-2.6", Self::SCSI_26, "2.6 source: SCSI_DEFAULT_MAX_SECTORS and SCSI_MAX_PHYS_SEGMENTS"),
        ("loop-6.18", Self::LOOP_618, "read from sysfs of a running 6.18"),
        ("unknown", Self::UNKNOWN, "guess"),
    ];

    /// `NAME[,LIMIT=NUMBER]...`: a preset with overrides.
    ///
    /// # Errors
    /// The preset or limit is unknown, a value is not a number or out of range, or a limit is given twice.
    pub fn by_name(text: &str) -> Result<Self, LimitsError> {
        let (name, settings) = words(text);
        let Some(&(name, mut limits, _)) = Self::PRESETS.iter().find(|preset| preset.0 == name) else {
            return Err(LimitsError::Unknown { name: name.to_string() });
        };
        let mut given = Vec::new();
        for setting in settings {
            let (key, value) = setting.map_err(|word| LimitsError::Setting { text: word.to_string() })?;
            let row = check(name, &TABLE, key, value)?;
            once(name, &mut given, key)?;
            // The values are within the ranges of the table.
            match row {
                SECTORS => limits.max_sectors = value as u32,
                SEGMENTS => limits.max_segments = value as u16,
                _ if value.is_multiple_of(512) => limits.max_segment_sectors = (value / 512) as u32,
                _ => return Err(LimitsError::Size { bytes: value }),
            }
        }
        Ok(limits)
    }

    /// Whether a request of this size is within the limits.
    pub(crate) const fn allow(&self, sectors: u64, segments: u16) -> bool {
        sectors <= self.max_sectors as u64 && segments <= self.max_segments
    }

    /// Whether two addresses lie in one window.
    pub(crate) const fn same_window(&self, first: u32, last: u32) -> bool {
        self.segment_window == 0 || first / self.segment_window == last / self.segment_window
    }

    /// Units from an address to the end of its window.
    pub(crate) const fn up_to_boundary(&self, address: u32) -> u32 {
        match self.segment_window {
            0 => u32::MAX,
            window => window - address % window,
        }
    }
}

/// Row indices of the table.
const SECTORS: usize = 0;
const SEGMENTS: usize = 1;

/// Overrides allowed after a name. A bio of one page must fit, and so must a program's page that is not aligned to a memory page, which
/// is two segments. The defaults are unused: each preset has its own.
static TABLE: [Tunable; 3] = [
    Tunable {
        name: "max_sectors",
        unit: Unit::Sectors,
        default: 256,
        min: 8,
        max: 1 << 20,
        doc: "longest request",
    },
    Tunable {
        name: "max_segments",
        unit: Unit::Number,
        default: 128,
        min: 2,
        max: u16::MAX as u64,
        doc: "most segments of a request",
    },
    Tunable {
        name: "max_segment_size",
        unit: Unit::Bytes,
        default: 65_536,
        min: 4096,
        max: u16::MAX as u64 * 512,
        doc: "longest segment, a multiple of 512",
    },
];

/// Why a text does not give limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitsError {
    /// No preset has this name.
    #[error("there are {}; a name may be followed by {}", presets(), rows())]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// Not `name=number`.
    #[error("{text:?} is not a limit and a whole number; there are {}", rows())]
    Setting {
        /// The malformed text.
        text: String,
    },
    /// The segment size is not a multiple of 512 bytes.
    #[error("max_segment_size={bytes} is no multiple of 512 bytes")]
    Size {
        /// The requested size.
        bytes: u64,
    },
    /// An unknown limit, or a value out of range.
    #[error(transparent)]
    Row(#[from] TunableError),
}

fn presets() -> String {
    Limits::PRESETS.map(|preset| preset.0).join(", ")
}

fn rows() -> String {
    TABLE.map(|row| format!("{}=N", row.name)).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_found_by_name() {
        assert_eq!(Limits::by_name("cciss"), Ok(Limits::CCISS));
        assert!(
            Limits::PRESETS.iter().all(|(_, limits, source)| limits.max_sectors >= 8 && !source.is_empty())
        );
    }

    #[test]
    fn a_preset_can_have_other_numbers() {
        let other = Limits::by_name("cciss, max_segments=64,max_sectors=1024 , max_segment_size=4096");
        let expected =
            Limits { max_segments: 64, max_sectors: 1024, max_segment_sectors: 8, ..Limits::CCISS };
        assert_eq!(other, Ok(expected));
        for (text, words) in [
            (
                "floppy",
                "there are ide-2.4, ide-2.6, cciss, scsi-2.6, loop-6.18, unknown; a name may be followed by",
            ),
            ("floppy", "max_sectors=N, max_segments=N, max_segment_size=N"),
            ("cciss,max_segment=1", "cciss has no tunable \"max_segment\"; it has max_sectors, max_segments"),
            ("cciss,max_segments=1", "max_segments=1 is outside 2 to 65535"),
            ("cciss,max_segments=65536", "is outside 2 to 65535"),
            ("cciss,max_sectors=7", "is outside 8 to 1048576 (sectors)"),
            ("cciss,max_segment_size=4100", "no multiple of 512"),
            (
                "cciss,max_segments",
                "\"max_segments\" is not a limit and a whole number; there are max_sectors=N",
            ),
            ("cciss,max_segments=x", "is not a limit and a whole number"),
            ("cciss,max_segments=8,max_segments=9", "max_segments is given twice"),
        ] {
            let error = Limits::by_name(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_window_ends_where_its_next_begins() {
        let limits = Limits::IDE_26;
        assert!(limits.same_window(0, 127) && !limits.same_window(127, 128));
        assert_eq!((limits.up_to_boundary(0), limits.up_to_boundary(130)), (128, 126));
        assert!(Limits::CCISS.same_window(0, u32::MAX));
    }
}
