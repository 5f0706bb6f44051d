//! A place whose device is a file: this machine's page cache lies between the survey's device and the disk.

use super::{finding, proof};
use fathom_record::{Evidence, Finding, Run};

pub(super) fn image(run: &Run) -> Option<Finding> {
    let devices = run.environment["devices"].as_array()?;
    // Older records do not say which devices use direct I/O.
    let image = devices.iter().find(|d| d["kind"] == "loop" && d["direct_io"] != true)?;
    let direct = image["direct_io"].as_bool();
    let name = image["name"].as_str()?;
    let file = image["backing_file"].as_str().unwrap_or("a file");
    let below = devices.iter().find(|d| d["above"] == image["name"]).and_then(|d| d["name"].as_str());
    let disk = below.unwrap_or("the disk");
    let how = if direct.is_some() { "without direct I/O" } else { "unless that was set up with direct I/O" };
    let sentence = format!(
        "The figures may be those of this machine's memory, not those of {disk}: {name} is a loop device over the file {file}, {how}."
    );
    let source = format!("/sys/block/{name}/loop/backing_file");
    let evidence = vec![Evidence { source, ..proof("loop devices below it", 1.0, "") }];
    Some(finding("image", sentence, evidence))
}
