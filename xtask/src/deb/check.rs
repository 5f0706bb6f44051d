//! `cargo xtask deb --check`: the package that lies in `target/`, asked Debian's own checks (lintian, where it is installed), installed into a
//! minimal Debian (debootstrap) with nothing else in it, looked at as its user would, and removed again. Needs root, debootstrap and Debian's
//! archive; without the first two it is skipped, and says so. The root is a temporary directory; nothing of this machine is changed.

use super::{DROP_INS, LINKS, said};
use crate::steps::{Steps, succeeds, target_directory};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The release whose libraries are the oldest that the package is for.
const RELEASE: &str = "bookworm";
/// What a page of the manual has to have to be one that can be read.
const CHAPTERS: [&str; 4] = ["NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"];

/// Installs, looks, removes; `Ok(false)` if something is not in order.
pub(crate) fn check(root: &Path) -> Result<bool> {
    let uid = fs::metadata("/proc/self").map_or(1, |about| about.uid());
    for (missing, what) in
        [(uid != 0, "root"), (!super::answers("debootstrap"), "debootstrap: apt install debootstrap")]
    {
        if missing {
            eprintln!("SKIPPED deb --check: needs {what}");
            return Ok(true);
        }
    }
    let package = newest(&target_directory(root))?;
    let dir = tempfile::tempdir()?;
    let debian = Debian(dir.path().join("root"));
    let mut steps = Steps::default();
    steps.take("Debian's checks", || lintian(&package));
    let made = steps.take("a minimal Debian", || {
        let mut make = Command::new("debootstrap");
        make.args(["--variant=minbase", "--include=man-db,bash-completion", RELEASE]).arg(&debian.0);
        succeeds(make.stdin(Stdio::null()).stdout(Stdio::null()))
    });
    if !made {
        return Ok(false);
    }
    fs::copy(&package, debian.0.join("tmp/fathom.deb")).context("the package cannot be copied")?;
    let before = debian.files()?;
    steps.take("installed", || {
        debian.prints("dpkg -i /tmp/fathom.deb && dpkg -s fathom", "install ok installed")
    });
    steps.take("the program", || debian.prints("fathom --version && fathom backends --json /tmp", "fathom "));
    steps.take("a survey", || {
        debian.prints(
            "mkdir -m 700 /tmp/s && cd /tmp/s && fathom --store s.db survey --quick -o s.html && rm -r /tmp/s",
            "database log",
        )
    });
    steps.take("a run", || {
        debian.prints(
            "mkdir -m 700 /tmp/s && cd /tmp/s && fathom --store s.db iozone -s 1m -r 64k -i 0 && rm -r /tmp/s",
            "iozone test complete",
        )
    });
    steps.take("drop-ins", || drop_ins(&debian));
    steps.take("manual pages", || manual(&debian));
    steps.take("completions", || completions(&debian));
    steps.take("removed without leftovers", || {
        debian.prints("dpkg -P fathom && ! dpkg -s fathom 2>/dev/null && echo gone", "gone")?;
        let left: Vec<String> = debian.files()?.into_iter().filter(|f| !before.contains(f)).collect();
        if !left.is_empty() {
            bail!("left behind: {}", left.join(" "));
        }
        Ok(true)
    });
    let failed = steps.failed().len();
    println!("{}: {} checks, {failed} failed", package.display(), 10);
    Ok(failed == 0)
}

/// What Debian asks of every package: neither an error nor a warning.
fn lintian(package: &Path) -> Result<bool> {
    if !super::answers("lintian") {
        eprintln!("SKIPPED Debian's checks: needs lintian: apt install lintian");
        return Ok(true);
    }
    let mut check = Command::new("lintian");
    check.args(["--fail-on", "error,warning", "--allow-root"]).arg(package);
    succeeds(check.stdin(Stdio::null()))
}

/// The youngest package below `target`.
fn newest(target: &Path) -> Result<PathBuf> {
    let all = fs::read_dir(target).with_context(|| format!("{} cannot be read", target.display()))?;
    let packages = all.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "deb"));
    let age = |p: &PathBuf| fs::metadata(p).and_then(|m| m.modified()).ok();
    packages.max_by_key(age).context("there is no package in target/: cargo xtask deb makes it")
}

/// A root with a Debian in it.
struct Debian(PathBuf);

impl Debian {
    fn says(&self, script: &str) -> Result<String> {
        let mut shell = Command::new("chroot");
        shell
            .arg(&self.0)
            .args(["sh", "-c", script])
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", "/tmp")
            .env("MANWIDTH", "80");
        said(shell.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"))
    }

    fn prints(&self, script: &str, wanted: &str) -> Result<bool> {
        let text = self.says(script)?;
        if !text.contains(wanted) {
            bail!("`{script}` does not print {wanted:?} but\n{text}");
        }
        Ok(true)
    }

    /// All files named after fathom, and everything in the directories to which the package installs.
    fn files(&self) -> Result<Vec<String>> {
        let script = "find / -xdev \\( -path /proc -o -path /tmp -o -path /var/log -o -path /var/cache -o -path /var/lib/dpkg \\) -prune -o -print";
        Ok(self.says(script)?.lines().map(str::to_owned).collect())
    }
}

fn drop_ins(debian: &Debian) -> Result<bool> {
    for (name, _) in DROP_INS {
        debian.says(&format!(
            "test -x /{LINKS}/{name} && /{LINKS}/{name} --help > /tmp/help 2>&1; test -s /tmp/help"
        ))?;
    }
    debian.prints(&format!("/{LINKS}/iozone -v"), "3.471")?;
    debian.prints(&format!("/{LINKS}/fio --version"), "fio-3")
}

/// Every page is laid out without a warning, has its chapters, and is found by `man`.
fn manual(debian: &Debian) -> Result<bool> {
    let pages = debian.says("ls /usr/share/man/man1/fathom*.1.gz")?;
    for page in pages.lines() {
        let warnings =
            debian.says(&format!("zcat {page} | groff -man -Tutf8 -ww 2>&1 >/dev/null || true"))?;
        if !warnings.is_empty() {
            bail!("{page}: {warnings}");
        }
    }
    for (name, _) in DROP_INS {
        let text = debian.says(&format!("man fathom-{name} | col -b 2>/dev/null || man fathom-{name}"))?;
        if let Some(lost) = CHAPTERS.iter().find(|c| !text.lines().any(|line| line.trim_end() == **c)) {
            bail!("man fathom-{name} has no {lost}");
        }
    }
    debian.prints("man -w fathom-iozone", "fathom-iozone.1")?;
    debian.prints("mandb -q 2>/dev/null; apropos iozone", "fathom-iozone (1)")
}

fn completions(debian: &Debian) -> Result<bool> {
    debian.says("test -s /usr/share/zsh/vendor-completions/_fathom && test -s /usr/share/fish/vendor_completions.d/fathom.fish")?;
    let complete = "bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/fathom; \
                    COMP_WORDS=(fathom sur); COMP_CWORD=1; _fathom fathom sur fathom; echo ${COMPREPLY[*]}'";
    debian.prints(complete, "survey")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_youngest_package_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        assert!(newest(dir.path()).is_err());
        for name in ["fathom_1_amd64.deb", "notes.txt"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        assert!(newest(dir.path()).unwrap().ends_with("fathom_1_amd64.deb"));
    }
}
