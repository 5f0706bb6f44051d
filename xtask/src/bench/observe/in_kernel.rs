//! A count that does not come from us: bpftrace adds up the requests issued to one device inside the kernel, while something else
//! runs. It needs root and the program bpftrace; without it a bench says so and goes on.

use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A count under way.
pub struct InKernel {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

/// Reads of a device: (bytes, how many).
pub type Sizes = BTreeMap<u64, u64>;

impl InKernel {
    /// Starts to count the reads issued to a device, by size. `None` where there is no bpftrace.
    pub fn started(device: &Path) -> Result<Option<Self>> {
        let number = number_of(device)?;
        // The kernel's word for a read begins with R: only flushes, which reads do not have, have a letter before the direction.
        let script = format!(
            "BEGIN {{ printf(\"counting\\n\"); }} \
             tracepoint:block:block_rq_issue /args->dev == {number} && strncmp(args->rwbs, \"R\", 1) == 0/ \
             {{ @sizes[args->bytes] = count(); }}"
        );
        let started = Command::new("bpftrace")
            .args(["-q", "-f", "json", "-e", &script])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = started else { return Ok(None) };
        let mut output = BufReader::new(child.stdout.take().context("bpftrace has no stdout")?);
        let mut line = String::new();
        while !line.contains("counting") {
            line.clear();
            if output.read_line(&mut line)? == 0 {
                let mut why = String::new();
                child.stderr.take().context("bpftrace has no stderr")?.read_to_string(&mut why)?;
                bail!("bpftrace ended before it began to count: {}", why.trim());
            }
        }
        Ok(Some(Self { child, output }))
    }

    /// Ends it.
    pub fn stopped(mut self) -> Result<Sizes> {
        // SAFETY: the process is our child and has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGINT) };
        let mut text = String::new();
        self.output.read_to_string(&mut text)?;
        self.child.wait()?;
        sizes(&text).with_context(|| format!("bpftrace printed no sizes: {text}"))
    }
}

impl Drop for InKernel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The kernel's own form of a device number, as its events have it.
fn number_of(device: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let number = std::fs::metadata(device).with_context(|| device.display().to_string())?.rdev();
    Ok(u64::from(libc::major(number)) << 20 | u64::from(libc::minor(number)))
}

/// What bpftrace prints at its end, a line of JSON a map.
fn sizes(text: &str) -> Option<Sizes> {
    let maps = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut found = None;
    for map in maps {
        match &map["data"]["@sizes"] {
            serde_json::Value::Object(all) => {
                let of = |(bytes, n): (&String, &serde_json::Value)| Some((bytes.parse().ok()?, n.as_u64()?));
                found = Some(all.iter().filter_map(of).collect());
            }
            _ => continue,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_read() {
        let text = "{\"type\": \"attached_probes\", \"data\": {\"probes\": 2}}\n\n\
                    {\"type\": \"map\", \"data\": {\"@sizes\": {\"4096\": 12, \"131072\": 7}}}\n";
        assert_eq!(sizes(text), Some(Sizes::from([(4096, 12), (131_072, 7)])));
        assert_eq!(sizes("nothing"), None);
    }
}
