//! What a device takes in one request: length, segments, the size of a segment and the addresses that a segment may not cross.
//! Constants with their sources; the merge rules hold every request to them.

/// The limits of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest request in sectors of 512 bytes.
    pub max_sectors: u32,
    /// Most physical segments of a request.
    pub max_segments: u16,
    /// Longest segment in units of 512 bytes.
    pub max_segment_sectors: u32,
    /// A segment lies within one window of this many units of 512 bytes of physical memory (a power of two; 0: no such rule).
    pub segment_window: u32,
    /// Whether the last segment of a bio and the first of the next can be one. Kernels since 5.2 no longer try when they count.
    pub joins_across_bios: bool,
}

impl Limits {
    /// IDE under 2.4: 128 KiB, a table of 256 entries that do not cross 64 KiB.
    pub const IDE_24: Self = Self { max_segments: 128, ..Self::IDE_26 };
    /// IDE under 2.6.5: 128 KiB, a table of 256 entries that do not cross 64 KiB (the table's form is the PCI IDE bus master
    /// specification's).
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
    /// Optical drives and others of which nothing is known: 128 KiB.
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

    /// A preset by its name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::PRESETS.iter().find(|preset| preset.0 == name).map(|preset| preset.1)
    }

    /// Whether a request of these is within the limits.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_found_by_name() {
        assert_eq!(Limits::by_name("cciss"), Some(Limits::CCISS));
        assert_eq!(Limits::by_name("floppy"), None);
        assert!(
            Limits::PRESETS.iter().all(|(_, limits, source)| limits.max_sectors >= 8 && !source.is_empty())
        );
    }

    #[test]
    fn a_window_ends_where_its_next_begins() {
        let limits = Limits::IDE_26;
        assert!(limits.same_window(0, 127) && !limits.same_window(127, 128));
        assert_eq!((limits.up_to_boundary(0), limits.up_to_boundary(130)), (128, 126));
        assert!(Limits::CCISS.same_window(0, u32::MAX));
    }
}
