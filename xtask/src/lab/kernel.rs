//! Debian's kernel: fetched once by apt, and kept in the user's cache by the package's name and version.

use super::said;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that depends on the release's current kernel.
const NEWEST: &str = "linux-image-amd64";

/// An unpacked kernel.
pub(super) struct Kernel {
    /// Such as "6.1.0-57-amd64".
    pub version: String,
    pub image: PathBuf,
    /// The directory of its modules.
    pub modules: PathBuf,
}

impl Kernel {
    /// The newest kernel that apt knows; unpacked if it is not in the cache yet.
    pub(super) fn cached() -> Result<Self> {
        let (package, unpacked) = newest()?;
        if !unpacked.is_dir() {
            unpack(&package, &unpacked)?;
        }
        Self::of(&unpacked, &package)
    }

    /// The same, but only if it is in the cache.
    #[cfg(test)]
    pub(super) fn in_cache() -> Option<Self> {
        let (package, unpacked) = newest().ok()?;
        Self::of(&unpacked, &package).ok()
    }

    fn of(unpacked: &Path, package: &str) -> Result<Self> {
        let version = package.trim_start_matches("linux-image-").to_string();
        let image = unpacked.join("boot").join(format!("vmlinuz-{version}"));
        // Where /lib is a link into /usr, packages may have moved already.
        let places = ["lib/modules", "usr/lib/modules"].map(|place| unpacked.join(place).join(&version));
        let modules = places.into_iter().find(|place| place.is_dir());
        let modules = modules.with_context(|| format!("{} has no modules; remove it", unpacked.display()))?;
        Ok(Self { version, image, modules })
    }
}

/// The newest kernel's package, and its directory in the cache.
fn newest() -> Result<(String, PathBuf)> {
    let package = package()?;
    let policy = said(Command::new("apt-cache").args(["policy", &package]))?;
    let candidate = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
    let candidate =
        candidate.with_context(|| format!("apt knows no version of {package}; run apt-get update"))?;
    let unpacked = cache()?.join(format!("{package}_{candidate}"));
    Ok((package, unpacked))
}

fn package() -> Result<String> {
    let depends = said(Command::new("apt-cache").args(["depends", NEWEST]))?;
    let kernel = depends.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    Ok(kernel.with_context(|| format!("apt does not know {NEWEST}; run apt-get update"))?.to_string())
}

fn cache() -> Result<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    let cache = base.context("neither XDG_CACHE_HOME nor HOME is set")?.join("fathom-lab");
    fs::create_dir_all(&cache).with_context(|| format!("{} cannot be made", cache.display()))?;
    Ok(cache)
}

/// Downloads and unpacks beside the target, which then gets its name in one step.
fn unpack(package: &str, target: &Path) -> Result<()> {
    let dir = tempfile::tempdir_in(target.parent().unwrap_or(Path::new(".")))?;
    said(Command::new("apt-get").args(["--quiet", "download", package]).current_dir(dir.path()))?;
    let file = fs::read_dir(dir.path())?.flatten().map(|entry| entry.path()).find(|path| path.is_file());
    let file = file.with_context(|| format!("apt-get did not download {package}"))?;
    let root = dir.path().join("root");
    said(Command::new("dpkg-deb").arg("-x").arg(file).arg(&root))?;
    fs::rename(&root, target).with_context(|| format!("{} cannot be made", target.display()))
}
