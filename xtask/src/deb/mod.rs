//! `cargo xtask deb`: a Debian package of the build with profile `dist`, with manual pages, completions, and links under the names of the
//! programs it replaces. The links are in a separate directory: in /usr/bin they would collide with the programs' packages.

mod check;
mod manual;

pub(crate) use check::check;

use crate::steps::{cargo, succeeds, target_directory};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The drop-ins, each with the line that `apropos` shows.
const DROP_INS: [(&str, &str); 4] = [
    ("iozone", "IOzone's command line and output, on fathom's engine"),
    ("sysbench", "SysBench's fileio test, its command line and output, on fathom's engine"),
    ("filebench", "Filebench's scripts and output, on fathom's engine"),
    ("fio", "fio's job files, command line and output, on fathom's engine"),
];
/// Where the links lie.
const LINKS: &str = "usr/lib/fathom/bin";
/// Nobody's: reports go the way that SECURITY.md names. `localhost` is an error to Debian's checks.
const ADDRESS: &str = "fathom@fathom.invalid";
const STATIC: &str = "x86_64-unknown-linux-musl";

/// Builds the package; `Ok(false)` if a step failed.
pub(crate) fn run(root: &Path, linked_statically: bool) -> Result<bool> {
    for (program, package) in [("dpkg-deb", "dpkg"), ("gzip", "gzip")] {
        if !answers(program) {
            bail!("`deb` needs {program}: apt install {package}");
        }
    }
    if !linked_statically && !answers("dpkg-shlibdeps") {
        bail!("`deb` asks dpkg-shlibdeps which libraries are needed: apt install dpkg-dev");
    }
    let Some(program) = built(root, linked_statically)? else { return Ok(false) };
    let version = version(&program)?;
    let stage = tempfile::tempdir()?;
    let tree = stage.path().join("tree");
    fill(root, &tree, &program, &version)?;
    let depends = if linked_statically { String::new() } else { libraries(stage.path(), &program)? };
    let architecture = said(Command::new("dpkg").arg("--print-architecture"))?;
    write(&tree.join("DEBIAN/control"), control(&version, &architecture, &depends, kib(&tree)?).as_bytes())?;
    let package = target_directory(root).join(format!("fathom_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "--build"]).arg(&tree).arg(&package).stdout(Stdio::null());
    if !succeeds(&mut build)? {
        return Ok(false);
    }
    println!("{}  {} bytes", package.display(), fs::metadata(&package)?.len());
    Ok(true)
}

fn answers(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Compiles; where the program lies, or none if it does not compile.
fn built(root: &Path, linked_statically: bool) -> Result<Option<PathBuf>> {
    let mut command = cargo(root);
    command.args(["build", "--profile", "dist", "--package", "fathom"]);
    let mut built = target_directory(root);
    if linked_statically {
        if !has_target() {
            bail!("a static program needs: rustup target add {STATIC}; apt install musl-tools");
        }
        command.args(["--target", STATIC]);
        built.push(STATIC);
    }
    Ok(succeeds(&mut command)?.then(|| built.join("dist/fathom")))
}

fn has_target() -> bool {
    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", STATIC]).output();
    let there = asked.is_ok_and(|out| Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir());
    // SQLite is C.
    there && Command::new("musl-gcc").arg("--version").output().is_ok_and(|out| out.status.success())
}

/// "fathom 0.1.0 (...)": the second word.
fn version(program: &Path) -> Result<String> {
    let line = said(Command::new(program).arg("--version"))?;
    let word = line.split_whitespace().nth(1).context("`fathom --version` has no version")?;
    Ok(word.to_owned())
}

/// What a command prints, without its line end.
fn said(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out =
        command.stdin(Stdio::null()).output().with_context(|| format!("{name} could not be started"))?;
    if !out.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&out.stdout).trim_end().to_owned())
}

/// Everything that is installed.
fn fill(root: &Path, tree: &Path, program: &Path, version: &str) -> Result<()> {
    let installed = tree.join("usr/bin/fathom");
    copy(program, &installed)?;
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755))?;
    succeeds(Command::new("strip").arg("--strip-unneeded").arg(&installed))?;
    let links = tree.join(LINKS);
    fs::create_dir_all(&links)?;
    for (name, _) in DROP_INS {
        symlink("../../../bin/fathom", links.join(name))?;
    }
    man_pages(root, tree, &installed, version)?;
    for (shell, file) in [
        ("bash", "usr/share/bash-completion/completions/fathom"),
        ("zsh", "usr/share/zsh/vendor-completions/_fathom"),
        ("fish", "usr/share/fish/vendor_completions.d/fathom.fish"),
    ] {
        let script = said(Command::new(&installed).args(["completions", shell]))? + "\n";
        write(&tree.join(file), script.as_bytes())?;
    }
    let doc = tree.join("usr/share/doc/fathom");
    copy(&root.join("README.md"), &doc.join("README.md"))?;
    copy(&root.join("GUIDE.md"), &doc.join("GUIDE.md"))?;
    copy(&root.join("CHANGELOG.md"), &doc.join("CHANGELOG.md"))?;
    let changelog = doc.join("changelog");
    write(&changelog, changelog_of(version, &last_commit(root)?).as_bytes())?;
    compress(&changelog)?;
    write(&doc.join("copyright"), copyright(root)?.as_bytes())?;
    copy_all(&root.join("docs"), &doc.join("docs"))?;
    copy_all(&root.join("examples"), &doc.join("examples"))
}

fn man_pages(root: &Path, tree: &Path, program: &Path, version: &str) -> Result<()> {
    let dir = tree.join("usr/share/man/man1");
    fs::create_dir_all(&dir)?;
    said(Command::new(program).arg("man-pages").arg(&dir))?;
    for (name, summary) in DROP_INS {
        let markdown = fs::read_to_string(root.join(format!("docs/{name}.md")))?;
        let name = format!("fathom-{name}");
        write(&dir.join(format!("{name}.1")), manual::page(&name, summary, version, &markdown)?.as_bytes())?;
    }
    for page in fs::read_dir(&dir)? {
        compress(&page?.path())?;
    }
    Ok(())
}

/// Without a name and a time inside: the same package from the same sources.
fn compress(file: &Path) -> Result<()> {
    said(Command::new("gzip").args(["-9", "--no-name"]).arg(file)).map(drop)
}

/// Debian wants its own form; what changed stands in our own beside it.
fn changelog_of(version: &str, date: &str) -> String {
    format!(
        "fathom ({version}) unstable; urgency=medium\n\n  * What changed: /usr/share/doc/fathom/CHANGELOG.md\n\n \
         -- the authors of fathom <{ADDRESS}>  {date}\n"
    )
}

/// When the sources were last changed, in the form of a changelog's date.
fn last_commit(root: &Path) -> Result<String> {
    said(Command::new("git").args(["log", "-1", "--format=%cD"]).current_dir(root))
}

fn copyright(root: &Path) -> Result<String> {
    let licence = fs::read_to_string(root.join("LICENSE-MIT"))?;
    let lines = licence.lines().map(|l| if l.is_empty() { " .\n".into() } else { format!(" {l}\n") });
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: fathom\n\n\
         Files: *\nCopyright: the authors of fathom\nLicense: MIT or Apache-2.0\n\n\
         License: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n\n\
         License: MIT\n{}",
        lines.collect::<String>()
    ))
}

/// "libc6 (>= 2.36), ...", found by Debian's own tool.
fn libraries(stage: &Path, program: &Path) -> Result<String> {
    // It wants to stand in a source package.
    let source = stage.join("source");
    write(&source.join("debian/control"), b"Source: fathom\n\nPackage: fathom\nArchitecture: any\n")?;
    let line = said(Command::new("dpkg-shlibdeps").arg("-O").arg(program).current_dir(&source))?;
    Ok(line.strip_prefix("shlibs:Depends=").unwrap_or(&line).to_owned())
}

fn control(version: &str, architecture: &str, depends: &str, kib: u64) -> String {
    let depends = if depends.is_empty() { String::new() } else { format!("Depends: {depends}\n") };
    format!(
        "Package: fathom\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: the authors of fathom <{ADDRESS}>\n\
         Installed-Size: {kib}\n{depends}Recommends: fuse3\nSection: utils\nPriority: optional\n\
         Description: How fast is this storage, did it get slower, and why?\n\
         \x20Measures file systems and disks, says whether a number is the disk's or the\n\
         \x20page cache's, compares runs, and runs workloads of IOzone, SysBench fileio,\n\
         \x20Filebench and fio unchanged, also in a simulator. Mounts ISO 9660 images.\n\
         \x20.\n\
         \x20Links under those programs' names are in /{LINKS}.\n"
    )
}

fn kib(tree: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(tree)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { kib(&entry.path())? * 1024 } else { meta.len() };
    }
    Ok(bytes.div_ceil(1024))
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?
        } else {
            copy(&entry.path(), &target)?
        }
    }
    Ok(())
}

/// A file that anybody may read.
fn copy(from: &Path, to: &Path) -> Result<()> {
    write(to, &fs::read(from).with_context(|| format!("{} cannot be read", from.display()))?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o644))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_program_depends_on_nothing() {
        assert!(!control("0.1.0", "amd64", "", 9).contains("Depends"));
        let linked = control("0.1.0", "amd64", "libc6 (>= 2.36)", 9);
        assert!(linked.contains("\nDepends: libc6 (>= 2.36)\nRecommends: fuse3\n"), "{linked}");
        assert!(linked.ends_with('\n') && !linked.contains("\n\n"), "{linked}");
    }

    #[test]
    fn the_changelog_has_debians_form() {
        let text = changelog_of("0.1.0", "Fri, 6 Nov 2026 10:00:00 +0000");
        assert!(text.starts_with("fathom (0.1.0) unstable; urgency=medium\n\n  * "), "{text}");
        let address =
            "\n\n -- the authors of fathom <fathom@fathom.invalid>  Fri, 6 Nov 2026 10:00:00 +0000\n";
        assert!(text.ends_with(address), "{text}");
    }

    #[test]
    fn the_licence_is_in_debians_form() {
        let text = copyright(&crate::root()).unwrap();
        assert!(text.contains("\nLicense: MIT\n ") && text.contains("\n .\n"), "{text}");
    }
}
