//! `cargo xtask page`: pages of every kind, made by the program in front of us and opened in Debian's Chromium by Playwright. What is asked
//! of them stands in `check.py` and `look.js`; `kinds` makes them. Playwright comes from PyPI into a venv below `target/`, so this chore
//! needs a network once; without it, without Chromium or without Python it is skipped, and says for want of what. Not for: tests that
//! run everywhere (`crates/cli/tests/page` opens the same pages without Playwright).

mod kinds;

use crate::steps::{Steps, cargo, succeeds, target_directory};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version that the checks were written with.
const PLAYWRIGHT: &str = "playwright==1.65.2";

/// Makes and checks the pages; `Ok(false)` if one has a fault.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let Some(chromium) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(on_path)
    else {
        return Ok(skipped("chromium: apt install chromium"));
    };
    let venv = root.join("target/playwright");
    if let Err(why) = playwright(&venv) {
        return Ok(skipped(&format!("Playwright: {why:#}")));
    }
    let mut steps = Steps::default();
    let artefacts = root.join("target/artefacts/page");
    let pages = root.join("target/artefacts/pages");
    steps.take("build", || {
        let mut build = cargo(root);
        succeeds(build.args(["build", "--release", "--package", "fathom"]))
    });
    if steps.failed().is_empty() {
        steps.take("pages of every kind", || {
            kinds::make(root, &target_directory(root).join("release/fathom"), &pages).map(|()| true)
        });
    }
    if steps.failed().is_empty() {
        steps.take("pages in the browser", || {
            let mut check = Command::new(venv.join("bin/python"));
            check.arg(root.join("xtask/src/page/check.py")).arg(&chromium).arg(&pages).arg(&artefacts);
            succeeds(check.stdin(Stdio::null()))
        });
        eprintln!("screenshots, prints and figures: {}", artefacts.display());
    }
    Ok(steps.failed().is_empty())
}

/// Reports a missing prerequisite; that is no failure.
fn skipped(what: &str) -> bool {
    eprintln!("SKIPPED page: needs {what}");
    true
}

fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join(program)).find(|path| path.is_file())
}

/// Playwright in a private venv; created once.
fn playwright(venv: &Path) -> Result<()> {
    let works = || quiet(Command::new(venv.join("bin/python")).args(["-c", "import playwright.sync_api"]));
    if works().unwrap_or(false) {
        return Ok(());
    }
    eprintln!("installing {PLAYWRIGHT} into {}", venv.display());
    if !quiet(Command::new("python3").args(["-m", "venv"]).arg(venv))
        .context("python3 (apt install python3-venv)")?
    {
        anyhow::bail!("python3 makes no venv (apt install python3-venv)");
    }
    let mut install = Command::new(venv.join("bin/pip"));
    install.args(["--quiet", "--disable-pip-version-check", "install", PLAYWRIGHT]).stdin(Stdio::null());
    if !succeeds(install.stdout(Stdio::null()))? || !works()? {
        anyhow::bail!("pip could not install {PLAYWRIGHT}");
    }
    Ok(())
}

fn quiet(command: &mut Command) -> Result<bool> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status().with_context(|| format!("{name} could not be started"))?.success())
}

/// A folder that is there and empty.
fn emptied(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("{} cannot be removed", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("{} cannot be made", dir.display()))
}
