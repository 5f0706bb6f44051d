//! Files whose attribute makes every write wait for the device.

use super::facts::Facts;
use super::{ATTRIBUTES, evidence, finding, sync_mount};
use fathom_record::Finding;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let files = facts.attributes.files;
    if files == 0 || facts.attributes.sync < files || sync_mount::mounted(facts) {
        return None;
    }
    let (waits, mut figures) = sync_mount::each_write_waits(facts)?;
    figures.push(evidence("files with the attribute S", files as f64, "files", ATTRIBUTES));
    let whose = if files == 1 { "The file has" } else { "The files have" };
    Some(finding(
        format!("{whose} the attribute S (chattr +S): {waits}."),
        "Remove it with `chattr -S`, also from the directory: new files inherit it. Call fsync where data must be safe.",
        figures,
    ))
}
