//! IOzone as a contender: one pass of reads and one of rereads over a file it has written itself (it checks what it reads). The
//! figure is the reread's; CPU time is that of the process over both passes.

use super::{Site, printed};
use crate::bench::pin;
use crate::bench::sample::{self, Sample};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::process::Command;

const RECORD_KIB: u64 = 4;

/// Writes the file that [`reread`] reads, and leaves it.
pub fn write(iozone: &Path, path: &Path, bytes: u64) -> Result<()> {
    let output = command(iozone, path, bytes, "-i0").output()?;
    ensure!(output.status.success() && path.is_file(), "IOzone: {}", printed(&output));
    std::fs::File::open(path)?.sync_all()?;
    Ok(())
}

/// Reads the file twice.
pub fn reread(iozone: &Path, site: &Site<'_>) -> Result<Sample> {
    let mut command = command(iozone, site.path, site.file_bytes, "-i1");
    let ended = sample::run(pin::command(command.current_dir(site.dir), pin::cpu()))?;
    let text = printed(&ended.output);
    let kib_per_s = reread_kib_per_s(&text).with_context(|| format!("IOzone: {text}"))?;
    let both_passes = 2.0 * site.file_bytes as f64 / (RECORD_KIB << 10) as f64;
    Ok(Sample { wall_ns: RECORD_KIB as f64 / kib_per_s * 1e9, cpu_ns: Some(ended.cpu_ns / both_passes) })
}

fn command(iozone: &Path, path: &Path, bytes: u64, test: &str) -> Command {
    let mut command = Command::new(iozone);
    command.args([test, "-w", "-r", &format!("{RECORD_KIB}k"), "-s", &format!("{}k", bytes >> 10), "-f"]);
    command.arg(path);
    command
}

/// The last of the two values in the row of file size, record size, read and reread.
fn reread_kib_per_s(text: &str) -> Option<f64> {
    text.lines().find_map(|line| {
        let numbers: Vec<f64> =
            line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        (numbers.len() == 4 && numbers[1] == RECORD_KIB as f64).then(|| numbers[3])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_has_the_reread_last() {
        let text = "    kB  reclen    write  rewrite    read    reread\n   2097152   4    3000000  4000000   \n\niozone test complete.\n";
        assert_eq!(reread_kib_per_s(text), Some(4e6));
        assert_eq!(reread_kib_per_s("Error in file: Position 0\n  65536  4\n"), None);
    }
}
