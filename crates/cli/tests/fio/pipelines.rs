//! What pipelines, test suites and vendors' pages run (pipelines.txt), through fio and through a link of that name that is fathom: the same
//! exit code, nothing on stderr where fio writes nothing, JSON of the same keys and types, terse lines of as many fields.

use crate::fio::devices::Device;
use crate::fio::support::{DEBIANS, FIO, fio_is_here};
use fathom_testkit::TestDir;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const PIPELINES: &str = include_str!("pipelines.txt");

fn pipelines() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    let all = PIPELINES.split("\n== ").skip(1);
    all.filter_map(|one| {
        let (name, lines) = one.split_once('\n')?;
        Some((name, lines.lines().filter(|line| !line.is_empty())))
    })
}

/// A directory in which one of the two programs is tried.
struct Stand {
    /// Given back before its directory goes.
    device: Device,
    dir: TestDir,
    work: PathBuf,
}

/// Results of a line.
struct Came {
    code: Option<i32>,
    stderr: String,
    /// stdout, and the files that it names.
    text: String,
}

impl Stand {
    fn new(test: &str, program: &str) -> Option<Self> {
        let dir = TestDir::new();
        let (bin, work) = (dir.subdir("bin"), dir.subdir("work"));
        symlink(program, bin.join("fio")).unwrap();
        fs::write(work.join("F"), "").unwrap();
        let device = Device::blank(test, dir.path(), 4 << 20)?;
        Some(Self { dir, work, device })
    }

    fn run(&self, line: &str) -> Came {
        let path = std::env::var("PATH").unwrap();
        let done = Command::new("sh")
            .args(["-c", &line.replace("DEV", self.device.path().to_str().unwrap())])
            .current_dir(&self.work)
            .env("PATH", format!("{}:{path}", self.dir.path().join("bin").display()))
            .env("FATHOM_FIO_VERSION", DEBIANS)
            .env("HOME", self.dir.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut text = String::from_utf8_lossy(&done.stdout).into_owned();
        let words =
            line.split([' ', '=', '/']).filter(|word| word.ends_with(".json") || word.ends_with(".txt"));
        for name in words {
            text += &fs::read_to_string(self.work.join(name)).unwrap_or_default();
        }
        Came { code: done.status.code(), stderr: String::from_utf8_lossy(&done.stderr).into_owned(), text }
    }
}

/// Every key with the type of its value; of a list only the first entry.
fn shape(path: &str, value: &Value, into: &mut BTreeMap<String, &'static str>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                // Our own key; the bins, whose keys are latencies; and options, whose values are text.
                if key != "fathom" && key != "bins" {
                    shape(&format!("{path}/{key}"), value, into);
                }
            }
        }
        Value::Array(list) => {
            let _ = into.insert(path.into(), "list");
            list.first().into_iter().for_each(|value| shape(&format!("{path}[]"), value, into));
        }
        Value::String(_) => drop(into.insert(path.into(), "text")),
        Value::Number(number) if number.is_f64() => drop(into.insert(path.into(), "float")),
        Value::Number(_) => drop(into.insert(path.into(), "integer")),
        Value::Bool(_) | Value::Null => drop(into.insert(path.into(), "other")),
    }
}

/// The shape of the first document of JSON in a text.
fn shape_of(text: &str) -> Option<BTreeMap<String, &'static str>> {
    let from = text.find("{\n")?;
    let document = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>().next()?.ok()?;
    let mut all = BTreeMap::new();
    shape("", &document, &mut all);
    Some(all)
}

/// Numbers of fields of the terse lines; how many lines come at intervals is a matter of time.
fn fields(text: &str) -> BTreeSet<usize> {
    let terse = text.lines().filter(|line| ["3;", "4;", "5;"].iter().any(|begin| line.starts_with(begin)));
    terse.map(|line| line.split(';').count()).collect()
}

/// The first difference.
fn difference(theirs: &Came, ours: &Came) -> Option<String> {
    if theirs.code != ours.code {
        return Some(format!(
            "fio ends with {:?}, fathom with {:?}: {}",
            theirs.code, ours.code, ours.stderr
        ));
    }
    if theirs.stderr.is_empty() && !ours.stderr.is_empty() {
        return Some(format!("fio writes nothing to stderr, fathom: {}", ours.stderr));
    }
    let (fio, fathom) = (fields(&theirs.text), fields(&ours.text));
    if fio != fathom {
        return Some(format!("terse lines have {fathom:?} fields instead of {fio:?}"));
    }
    let (Some(fio), fathom) = (shape_of(&theirs.text), shape_of(&ours.text)) else { return None };
    let Some(fathom) = fathom else { return Some("fathom writes no JSON".into()) };
    let other = fio
        .iter()
        .chain(&fathom)
        .find(|(key, kind)| fio.get(*key) != Some(kind) || fathom.get(*key) != Some(kind));
    other.map(|(key, _)| format!("{key}: fio has {:?}, fathom {:?}", fio.get(key), fathom.get(key)))
}

#[test]
fn what_pipelines_run_runs() {
    let test = "what_pipelines_run_runs";
    if !fio_is_here(test) {
        return;
    }
    assert!(pipelines().count() > 30);
    let mut wrong = Vec::new();
    for (name, lines) in pipelines() {
        let (Some(theirs), Some(ours)) =
            (Stand::new(test, FIO), Stand::new(test, env!("CARGO_BIN_EXE_fathom")))
        else {
            return;
        };
        for line in lines {
            let (differs, line) = line.strip_prefix("! ").map_or((false, line), |line| (true, line));
            // Most of them only take a second of time.
            let (fio, fathom) = std::thread::scope(|scope| {
                let fio = scope.spawn(|| theirs.run(line));
                let fathom = ours.run(line);
                (fio.join().unwrap(), fathom)
            });
            match difference(&fio, &fathom) {
                Some(difference) if !differs => wrong.push(format!("{name}: {line}\n  {difference}")),
                Some(difference) if fathom.code.is_none_or(|code| code > 1) => wrong.push(difference),
                None if differs => {
                    wrong.push(format!("{name}: {line}\n  it is the same now: take the ! away"))
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
