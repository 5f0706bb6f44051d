//! `cargo xtask mpi`: builds `fathom-mpi`, a separate workspace because it needs an MPI, and runs its tests on two hosts made of network
//! namespaces. Where there is no MPI it says so and skips, by name; `cargo xtask test` and CI never come here.

use crate::steps::{Steps, cargo, succeeds, target_directory};
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Builds and tests; whether all was in order.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let wrapper = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    if Command::new(&wrapper).arg("-show").output().is_err() {
        println!(
            "SKIP fathom-mpi and its tests: {wrapper} was not found; apt-get install libopenmpi-dev openmpi-bin (or libmpich-dev mpich)"
        );
        return Ok(true);
    }
    let package = root.join("crates/mpi");
    // The main workspace's: what was built there need not be built again.
    let target = target_directory(root);
    let in_package = |args: &[&str]| succeeds(cargo(&package).args(args).env("CARGO_TARGET_DIR", &target));
    let mut steps = Steps::default();
    let built =
        steps.take("build fathom-mpi", || in_package(&["clippy", "--all-targets", "--", "-D", "warnings"]));
    if built {
        steps.take("two hosts, four ranks", || in_package(&["test", "--", "--nocapture"]));
    }
    Ok(steps.failed().is_empty())
}
