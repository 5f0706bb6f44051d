//! Files or devices whose data is encrypted, while a device waits for the processors.

use super::computing::{self, Moved};
use super::facts::{Facts, size};
use super::{ATTRIBUTES, evidence, finding};
use fathom_record::Finding;

/// Share of the time with a request in dm-crypt and none in the device below.
const BETWEEN: f64 = 0.25;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let moved = computing::moved(facts)?;
    let (symptom, mut figures) = computing::beside(facts, &moved)?;
    let work = match moved {
        Moved { read, written: 0 } => format!("{} had to be decrypted", size(read as f64)),
        Moved { read: 0, written } => format!("{} had to be encrypted", size(written as f64)),
        Moved { read, written } => {
            format!("{} had to be decrypted and {} encrypted", size(read as f64), size(written as f64))
        }
    };
    let files = facts.attributes.files;
    let (whose, advice) = if are_encrypted(facts) {
        figures.push(evidence("files with the attribute E", files as f64, "files", ATTRIBUTES));
        let whose = if files == 1 { "The file is" } else { "The files are" };
        (
            format!("{whose} encrypted by the file system (fscrypt)"),
            "Files in a directory without an encryption policy show what it costs here. /proc/crypto shows which driver does the work: one that uses the processor's instructions for AES is many times as fast as a generic one.",
        )
    } else {
        let kind = |name| facts.described(name).and_then(|d| d.get("mapper_kind")?.as_str());
        let device = facts.carriers(facts.device()?).find(|d| kind(&d.name) == Some("crypt"))?;
        // The time with a request in dm-crypt and none in the disk is the time that encrypting took.
        let apart = device.busy_ns.saturating_sub(facts.below(device)?.busy_ns);
        if (apart as f64) < BETWEEN * facts.repetition.elapsed_ns as f64 {
            return None;
        }
        (
            format!("{} encrypts what it holds (dm-crypt)", device.name),
            "`cryptsetup benchmark` shows what the processor can do with each cipher. The flags no_read_workqueue and no_write_workqueue (man cryptsetup) skip two work queues, which can help small requests.",
        )
    };
    Some(finding(format!("{whose}: {work}, and {symptom}."), advice, figures))
}

/// Whether the file system encrypts the files, and not the device for it: with inlinecrypt that is possible.
fn are_encrypted(facts: &Facts<'_>) -> bool {
    let files = facts.attributes.files;
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str()).unwrap_or("");
    files > 0 && facts.attributes.encrypted >= files && !options.split(',').any(|o| o == "inlinecrypt")
}
