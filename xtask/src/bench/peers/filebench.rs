//! Filebench as a contender: a workload of one operation in one thread. It reports operations a second; CPU time is that of its
//! processes over their life, in which it also waits for a second or two.

use super::{Site, printed, whole_seconds};
use crate::bench::sample::{self, Sample};
use crate::bench::{files, pin};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::process::Command;

/// Runs one flow operation, `read` or `write`, on random places for the time of the site.
pub fn measure(filebench: &Path, site: &Site<'_>, operation: &str) -> Result<Sample> {
    // Filebench expects the file in its own directory tree.
    let dir = site.dir.join("filebench");
    files::link(site.path, &dir.join("data/00000001/00000001"))?;
    let workload = workload(&dir, site.file_bytes, operation, whole_seconds(site.seconds));
    let file = site.dir.join("bench.f");
    std::fs::write(&file, workload)?;
    // Its processes share memory at one address, so addresses must not be random.
    let mut command = Command::new("setarch");
    command.arg("-R").arg(filebench).arg("-f").arg(&file).current_dir(site.dir);
    let ended = sample::run(pin::command(&mut command, pin::cpu()))?;
    let text = printed(&ended.output);
    let (ops, rate) = summary(&text).with_context(|| format!("filebench: {text}"))?;
    // Unlike the other peers it idles in its start and exit: the share of its life on a CPU says nothing, the sum does.
    Ok(Sample { wall_ns: 1e9 / rate, cpu_ns: Some(ended.cpu_ns / ops) })
}

fn workload(dir: &Path, file_bytes: u64, operation: &str, seconds: u64) -> String {
    format!(
        "define file name=\"data\",path=\"{}\",size={file_bytes},prealloc,reuse\n\
         define process name=\"p\",instances=1 {{\n  thread name=\"t\",instances=1,memsize=10m {{\n    \
         flowop {operation} name=\"op\",filename=\"data\",iosize=4k,random\n  }}\n}}\nrun {seconds}\n",
        dir.display()
    )
}

/// Operations, and operations a second.
pub fn summary(text: &str) -> Option<(f64, f64)> {
    let words = text.lines().find_map(|line| line.split_once("IO Summary:"))?.1;
    let mut words = words.split_ascii_whitespace();
    let ops: f64 = words.next()?.parse().ok()?;
    let rate: f64 = words.nth(1)?.parse().ok()?;
    (ops > 0.0 && rate > 0.0).then_some((ops, rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_gives_operations_and_their_rate() {
        let text = "1.0: Running...\n2.0: IO Summary: 900000 ops 500000.250 ops/s 500000/0 rd/wr 1953.1mb/s 0.002ms/op\n";
        assert_eq!(summary(text), Some((900_000.0, 500_000.25)));
        assert_eq!(summary("0.003: Failed to create filesets\n"), None);
    }

    #[test]
    fn the_workload_names_the_file_and_the_time() {
        let text = workload(Path::new("/d"), 4096, "write", 3);
        assert!(text.contains("path=\"/d\",size=4096") && text.contains("flowop write"), "{text}");
        assert!(text.ends_with("run 3\n"));
    }
}
