//! A place whose device is a file: this machine's page cache lies between the survey's device and the disk.

use super::{finding, proof};
use fathom_record::{DeviceDelta, Evidence, Finding, Physical, Run};

pub(super) fn image(run: &Run) -> Option<Finding> {
    let devices = run.environment["devices"].as_array()?;
    // Older records do not say which devices use direct I/O.
    let image = devices.iter().find(|d| d["kind"] == "loop" && d["direct_io"] != true)?;
    let direct = image["direct_io"].as_bool();
    let name = image["name"].as_str()?;
    let file = image["backing_file"].as_str().unwrap_or("a file");
    let below = devices.iter().find(|d| d["above"] == image["name"]).and_then(|d| d["name"].as_str());
    let disk = below.unwrap_or("the disk");
    let how = if direct.is_some() { "Without direct I/O" } else { "Unless it was set up with direct I/O" };
    let source = match all_counted(run, below) {
        true => format!("; \"device\" means {disk}"),
        false => ": its figures may be the memory's".to_owned(),
    };
    let sentence = format!(
        "{name} is a loop device over the file {file}. {how}, memory lies between it and {disk}{source}."
    );
    let source = format!("/sys/block/{name}/loop/backing_file");
    let evidence = vec![Evidence { source, ..proof("loop devices below it", 1.0, "") }];
    Some(finding("image", sentence, evidence))
}

/// Whether the counters of the disk right below the loop device were read in every phase: they then decide what served its figures.
fn all_counted(run: &Run, disk: Option<&str>) -> bool {
    let read = |physical: &Physical| {
        let is_disk = |d: &DeviceDelta| d.level == 1 && Some(d.name.as_str()) == disk;
        physical.devices.iter().any(is_disk) && physical.devices.iter().all(|d| d.level <= 1)
    };
    let mut counted = run.phases.iter().flat_map(|p| &p.repetitions).map(|r| &r.physical).peekable();
    counted.peek().is_some() && counted.all(read)
}
