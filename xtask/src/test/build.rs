//! Builds every test program and tells which there are, from cargo's own messages; and what the build cost, from the page that cargo writes
//! with `--timings`.

use super::compiler::Compiler;
use super::slowest::Cost;
use crate::steps::target_directory;
use anyhow::{Context, Result};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Where cargo writes the times of the units that it compiled last, below the directory of what is built.
const TIMINGS: &str = "cargo-timings/cargo-timing.html";

/// A program of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// What cargo calls it, for people: "fathom-engine (engine)".
    pub(super) name: String,
    /// The directory of its package, in which it expects to run.
    pub(super) package: PathBuf,
    /// The program itself.
    pub(super) executable: PathBuf,
}

/// What a build made and what it cost.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) programs: Vec<Program>,
    /// Seconds by compile unit; none where all was there already.
    pub(super) units: Vec<Cost>,
}

/// Builds all; `None` where something does not compile, which cargo has said on stderr.
pub(super) fn build(root: &Path, compiler: &Compiler) -> Result<Option<Built>> {
    let mut command = compiler.build(root);
    command.stdout(Stdio::piped());
    let timings = target_directory(root).join(TIMINGS);
    // What an earlier build cost must not be taken for this one's.
    let _ = std::fs::remove_file(&timings);
    let mut child = command.spawn().context("cargo could not be started")?;
    let messages = BufReader::new(child.stdout.take().context("cargo has no output")?);
    let mut programs = Vec::new();
    for line in messages.lines() {
        programs.extend(program(&line.context("the messages of cargo cannot be read")?));
    }
    if !child.wait().context("cargo cannot be waited for")?.success() {
        return Ok(None);
    }
    let page = std::fs::read_to_string(timings).unwrap_or_default();
    Ok(Some(Built { programs, units: units(&page) }))
}

/// The test program that a message of cargo announces, if it does.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    Some(Program {
        name: format!("{} ({})", package.file_name()?.to_str()?, described(&message["target"])?),
        package: package.to_path_buf(),
        executable: message["executable"].as_str()?.into(),
    })
}

/// "unit tests", or the name of an integration test.
fn described(target: &Value) -> Option<&str> {
    match target["kind"][0].as_str()? {
        "test" => target["name"].as_str(),
        "bin" => Some("unit tests of the program"),
        _ => Some("unit tests"),
    }
}

/// The units of cargo's page of timings, which holds them as a line of JSON. Empty if the page's format changes: this only helps to find
/// lost time, and tests nothing.
fn units(page: &str) -> Vec<Cost> {
    let Some((_, rest)) = page.split_once("const UNIT_DATA = ") else { return Vec::new() };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Vec<Value>>();
    let Some(Ok(units)) = values.next() else { return Vec::new() };
    units.iter().filter_map(unit).collect()
}

fn unit(unit: &Value) -> Option<Cost> {
    let target = unit["target"].as_str().unwrap_or_default().trim();
    let name = format!("{} {} {target}", unit["name"].as_str()?, unit["version"].as_str()?);
    Some(Cost { seconds: unit["duration"].as_f64()?, name: name.trim_end().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_distinguished_from_other_artefacts() {
        let message = |kind: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/x/crates/sim/Cargo.toml","target":{{"kind":["{kind}"],"name":"whole"}},"profile":{{"test":{test}}},"executable":"/x/target/debug/deps/whole-1"}}"#
            )
        };
        let expected = |name: &str| {
            Some(Program {
                name: name.into(),
                package: "/x/crates/sim".into(),
                executable: "/x/target/debug/deps/whole-1".into(),
            })
        };
        assert_eq!(program(&message("test", true)), expected("sim (whole)"));
        assert_eq!(program(&message("lib", true)), expected("sim (unit tests)"));
        assert_eq!(program(&message("bin", true)), expected("sim (unit tests of the program)"));
        assert_eq!(program(&message("bin", false)), None);
        assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(program("   Compiling x"), None);
    }

    #[test]
    fn units_come_from_the_page_of_timings() {
        let page = "<script>const UNIT_DATA = [\n  {\"i\": 0, \"name\": \"syn\", \"version\": \"2.0.1\", \"target\": \"\", \"duration\": 12.5},\n  \
                    {\"i\": 1, \"name\": \"fathom\", \"version\": \"0.1.0\", \"target\": \" test \\\"cli\\\"\", \"duration\": 7.25}\n];\nconst X = [];";
        let found: Vec<_> = units(page).into_iter().map(|u| (u.name, u.seconds)).collect();
        assert_eq!(found, [("syn 2.0.1".into(), 12.5), ("fathom 0.1.0 test \"cli\"".into(), 7.25)]);
        assert!(units("").is_empty() && units("const UNIT_DATA = soon").is_empty());
    }
}
