//! Which compiler the tests are built with. Clippy's is rustc with lints: told to cargo as the compiler of the workspace's own
//! crates, it lints while it builds. `cargo clippy` beside a build would look through every dependency a second time, which took as
//! long as a quarter of the whole chore.

use crate::steps::cargo;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Clippy passes arguments to its compiler each followed by this word.
const END_OF_ARGUMENT: &str = "__CLIPPY_HACKERY__";

/// A compiler, and with it a set of built things: cargo keeps those of different compilers apart.
#[derive(Debug)]
pub(super) struct Compiler {
    /// `None`: rustc as it is.
    clippy: Option<PathBuf>,
}

impl Compiler {
    /// Rustc.
    pub(super) fn plain() -> Self {
        Self { clippy: None }
    }

    /// Clippy of the toolchain that runs this.
    pub(super) fn clippy(root: &Path) -> Result<Self> {
        let output = Command::new("rustc")
            .args(["--print", "sysroot"])
            .current_dir(root)
            .output()
            .context("rustc could not be started")?;
        let sysroot = String::from_utf8(output.stdout).context("rustc --print sysroot")?;
        let driver = Path::new(sysroot.trim()).join("bin/clippy-driver");
        ensure!(
            driver.exists(),
            "there is no {}; `rustup component add clippy` installs it",
            driver.display()
        );
        Ok(Self { clippy: Some(driver) })
    }

    /// A cargo that builds with it.
    pub(super) fn cargo(&self, root: &Path) -> Command {
        let mut command = cargo(root);
        if let Some(driver) = &self.clippy {
            let arguments = ["-D", "warnings"].map(|a| format!("{a}{END_OF_ARGUMENT}")).concat();
            command.env("RUSTC_WORKSPACE_WRAPPER", driver).env("CLIPPY_ARGS", arguments);
        }
        command
    }

    /// Builds everything as the tests need it, with cargo's messages on stdout. Built alone, the program would have other features of its
    /// libraries, and all of them be built twice.
    pub(super) fn build(&self, root: &Path) -> Command {
        let mut command = self.cargo(root);
        command.args(["test", "--workspace", "--no-run", "--timings"]);
        command.arg("--message-format=json-render-diagnostics");
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clippy_gets_warnings_as_errors() {
        let driver = Compiler { clippy: Some("/x/clippy-driver".into()) };
        let command = driver.build(Path::new("."));
        let env: Vec<_> = command.get_envs().filter_map(|(k, v)| Some((k.to_str()?, v?.to_str()?))).collect();
        assert!(env.contains(&("RUSTC_WORKSPACE_WRAPPER", "/x/clippy-driver")), "{env:?}");
        assert!(env.contains(&("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")), "{env:?}");
        assert!(Compiler::plain().build(Path::new(".")).get_envs().all(|(k, _)| k != "CLIPPY_ARGS"));
    }
}
