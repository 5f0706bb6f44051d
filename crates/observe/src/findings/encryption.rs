//! Files that the file system encrypts, while the device waits for the processors.

use super::computing::{self, Moved};
use super::facts::{Facts, size};
use super::{ATTRIBUTES, evidence, finding};
use fathom_record::Finding;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let files = facts.attributes.files;
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str()).unwrap_or("");
    // With inlinecrypt the device can do the work.
    if files == 0 || facts.attributes.encrypted < files || options.split(',').any(|o| o == "inlinecrypt") {
        return None;
    }
    let moved = computing::moved(facts)?;
    let (symptom, mut figures) = computing::beside(facts, &moved)?;
    figures.push(evidence("files with the attribute E", files as f64, "files", ATTRIBUTES));
    let whose = if files == 1 { "The file is" } else { "The files are" };
    let work = match moved {
        Moved { read, written: 0 } => format!("{} had to be decrypted", size(read as f64)),
        Moved { read: 0, written } => format!("{} had to be encrypted", size(written as f64)),
        Moved { read, written } => {
            format!("{} had to be decrypted and {} encrypted", size(read as f64), size(written as f64))
        }
    };
    Some(finding(
        format!("{whose} encrypted by the file system (fscrypt): {work}, and {symptom}."),
        "Files in a directory without an encryption policy show what it costs here. /proc/crypto shows which driver does the work: one that uses the processor's instructions for AES is many times as fast as a generic one.",
        figures,
    ))
}
