//! btrfs with checksums that cost much to compute, while the device waits for the processors.

use super::computing::{self, Moved};
use super::facts::{Facts, size};
use super::finding;
use fathom_record::Finding;

/// They cost little: most processors have instructions for one, and the other is as fast.
const CHEAP: [&str; 2] = ["crc32c", "xxhash64"];

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let text = |at| facts.environment.pointer(at).and_then(|o| o.as_str());
    // "sha256 (sha256-ni)": the algorithm, and the driver that computes it.
    let checksum = text("/filesystem/checksum")?;
    let algorithm = checksum.split(' ').next()?;
    let mut options = text("/filesystem/options").unwrap_or("").split(',');
    let without =
        options.any(|o| o == "nodatasum" || o == "nodatacow") || facts.attributes.without_checksums > 0;
    if CHEAP.contains(&algorithm) || without {
        return None;
    }
    let moved = computing::moved(facts)?;
    let (symptom, figures) = computing::beside(facts, &moved)?;
    let work = match moved {
        Moved { read, written: 0 } => format!("those of {} had to be verified", size(read as f64)),
        Moved { read: 0, written } => format!("those of {} had to be computed", size(written as f64)),
        Moved { read, written } => format!(
            "those of {} had to be verified and those of {} computed",
            size(read as f64),
            size(written as f64)
        ),
    };
    Some(finding(
        format!("btrfs keeps {algorithm} checksums of all data: {work}, and {symptom}."),
        "Files with the attribute C (`chattr +C` on an empty directory) have none and show what they cost here. The algorithm is chosen when the file system is made: `mkfs.btrfs --csum crc32c` or xxhash costs less.",
        figures,
    ))
}
