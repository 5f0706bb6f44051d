//! Lines of a document, run by a shell as a reader would type them: `fathom` is on the path, the examples lie in the working directory.

use fathom_testkit::Fathom;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Makes the examples of the repository seen from the working directory, as in a fresh clone.
pub(super) fn link_examples(fathom: &Fathom) {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    symlink(examples, fathom.work().join("examples")).expect("the examples");
}

/// Runs one line. The program must have been given its own name: `Fathom::new().named("fathom")`.
pub(super) fn in_shell(fathom: &Fathom, line: &str) -> Output {
    let prepared = fathom.command(["--version"]);
    let program = Path::new(prepared.get_program());
    assert_eq!(program.file_name(), Some("fathom".as_ref()), "what the shell would not find");
    let mut path = program.parent().expect("a directory").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.current_dir(fathom.work()).stdin(Stdio::null()).args(["-c", line]);
    shell.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", path).output().expect("a shell")
}
