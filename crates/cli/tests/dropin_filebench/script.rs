//! Scripts for tests, and the rows they print.

use fathom_testkit::{Fathom, Outcome};

/// A row of a breakdown.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub ops: u64,
}

/// Writes a script into the working directory; `$DIR` is that directory.
pub fn write(fathom: &Fathom, name: &str, text: &str) {
    let text = text.replace("$DIR", &fathom.work().display().to_string());
    std::fs::write(fathom.work().join(name), text).unwrap();
}

/// Runs a script without further options.
pub fn run(fathom: &Fathom, text: &str) -> Outcome {
    run_with(fathom, text, "")
}

/// Runs a script.
pub fn run_with(fathom: &Fathom, text: &str, options: &str) -> Outcome {
    write(fathom, "script.f", text);
    fathom.run_line(format!("filebench -f script.f {options}").trim_end())
}

/// The rows of 1.5's (and 1.4's) form.
pub fn rows(stdout: &str) -> Vec<Row> {
    let lines = stdout.lines().skip_while(|l| !l.ends_with("Per-Operation Breakdown")).skip(1);
    lines
        .take_while(|l| !l.contains("IO Summary:"))
        .map(|line| {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap().to_owned();
            let ops = words.next().unwrap().strip_suffix("ops").unwrap().parse().unwrap();
            Row { name, ops }
        })
        .collect()
}

/// Operations of a row.
#[track_caller]
pub fn ops_of(rows: &[Row], name: &str) -> u64 {
    rows.iter()
        .filter(|r| r.name == name)
        .map(|r| r.ops)
        .max()
        .unwrap_or_else(|| panic!("no row {name}: {rows:?}"))
}

/// The six numbers of the summary, by the words scripts search for.
pub fn summary(stdout: &str) -> Option<[f64; 6]> {
    let line = stdout.lines().rev().find(|l| l.contains("IO Summary:"))?;
    let (_, rest) = line.split_once("IO Summary:")?;
    let (ops, rest) = rest.split_once(" ops ")?;
    let (rate, rest) = rest.split_once(" ops/s ")?;
    let (reads, rest) = rest.split_once('/')?;
    let (writes, rest) = rest.split_once(" rd/wr")?;
    let (megabytes, rest) = rest.split_once("mb/s ")?;
    let latency = rest.strip_suffix("ms/op")?;
    let mut numbers = [0.0; 6];
    for (number, text) in numbers.iter_mut().zip([ops, rate, reads, writes, megabytes, latency]) {
        *number = text.trim().parse().ok()?;
    }
    Some(numbers)
}

/// A small set and one reader, for tests of what is around them.
pub const READER: &str = "define fileset name=fs,path=$DIR,entries=20,dirwidth=5,size=16k,prealloc=100\n\
    define process name=proc { thread name=thr,memsize=1m {\n\
    flowop read name=rd,filesetname=fs,iosize=4k,random\n flowop delay name=pause,value=0\n} }\n";
