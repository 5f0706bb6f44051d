//! The images of `bench isofs`, made by xorriso when they are first asked for, and put into the page cache: one with large files, one with 10,000
//! small ones, one with compressed ones, one as large as a DVD with 60,000 files.

use super::Site;
use crate::bench::files;
use crate::bench::spread::Random;
use anyhow::{Context as _, Result, ensure};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The large file of [`large`], and the four for four streams, a quarter of its size each.
pub const BIG: &str = "big";
pub const FOUR: [&str; 4] = ["s0", "s1", "s2", "s3"];
/// The files of [`packed`].
pub const PACKED: [&str; 2] = ["text0", "text1"];
const SMALL_FILES: u64 = 10_000;
const SMALL_DIRECTORIES: u64 = 100;
/// Mean of their sizes.
const SMALL_BYTES: u64 = 9_000;
const DVD_FILES: u64 = 60_000;
const DVD_BYTES: u64 = 4_700_000_000;

/// Large files of random bytes.
pub fn large(site: &Site) -> Result<PathBuf> {
    made(site, "large", &[], |source| {
        files::random(&source.join(BIG), site.file_mib << 20)?;
        FOUR.iter().try_for_each(|name| files::random(&source.join(name), site.file_mib << 18))
    })
}

/// 10,000 small files in 100 directories, 90 MB.
pub fn small(site: &Site) -> Result<PathBuf> {
    made(site, "small", &[], |source| small_files(source, SMALL_FILES, SMALL_BYTES))
}

/// Where the files of [`small`] came from.
pub fn small_source(site: &Site) -> PathBuf {
    site.dir.join("small")
}

/// Two files of text, compressed in the image (zisofs 1).
pub fn packed(site: &Site) -> Result<PathBuf> {
    let filters: Vec<String> = PACKED.iter().map(|name| format!("/{name}")).collect();
    let mut extra = vec!["-set_filter".to_owned(), "--zisofs".to_owned()];
    extra.extend(filters);
    extra.push("--".into());
    made(site, "packed", &extra, |source| {
        PACKED.iter().try_for_each(|name| {
            let mut file = BufWriter::new(File::create(source.join(name))?);
            let mut random = Random(0x7ea7);
            for line in 0..site.file_mib << 13 {
                writeln!(
                    file,
                    "{line:>12} {:>20} a line of text, as logs have it: {:>16}",
                    random.below(1 << 30),
                    random.below(1000)
                )?;
            }
            Ok(file.flush()?)
        })
    })
}

/// 60,000 files, and one that fills what is left of a DVD.
pub fn dvd(site: &Site) -> Result<PathBuf> {
    made(site, "dvd", &[], |source| {
        small_files(source, DVD_FILES, 2_000)?;
        let file = File::create(source.join("film"))?;
        Ok(file.set_len(DVD_BYTES - DVD_FILES * 4_096)?)
    })
}

fn small_files(source: &Path, count: u64, mean_bytes: u64) -> Result<()> {
    let mut random = Random(0x5a11);
    let mut data = vec![0u8; usize::try_from(4 * mean_bytes)?];
    for n in 0..count {
        let directory = source.join(format!("directory {:03}", n % SMALL_DIRECTORIES));
        if n < SMALL_DIRECTORIES {
            fs::create_dir(&directory)?;
        }
        // Of two numbers the product: many small ones, few large.
        let bytes = random.below(2 * mean_bytes) * random.below(2 * mean_bytes) / mean_bytes;
        data.iter_mut().step_by(61).for_each(|byte| *byte = random.below(256) as u8);
        fs::write(directory.join(format!("file number {n:05}")), &data[..usize::try_from(bytes)?])?;
    }
    Ok(())
}

/// Makes an image of the directory that `fill` populates, unless the image exists.
fn made(
    site: &Site,
    name: &str,
    extra: &[String],
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let (source, image) = (site.dir.join(name), site.dir.join(format!("{name}.iso")));
    if !image.exists() {
        fs::create_dir(&source)?;
        fill(&source)?;
        let mut command = Command::new("xorriso");
        command.args(["-report_about", "SORRY", "-outdev"]).arg(&image).arg("-map").arg(&source).arg("/");
        command.args(extra).arg("-commit").stdin(Stdio::null());
        let output = command.output().context("xorriso, which makes the images, could not be started")?;
        ensure!(output.status.success(), "xorriso: {}", String::from_utf8_lossy(&output.stderr));
        File::open(&image)?.sync_all()?;
    }
    files::warm(&image)?;
    Ok(image)
}
