//! How compressible the written data is, and the data that files were laid out with before reading: by its generation rule, and measured
//! on a sample.

use super::one;
use crate::doubts::DoubtInputs;
use crate::words::percent;
use fathom_record::{Run, Trust, Verdict};
use serde_json::Value;

/// Below this compressed share, compression decides the result on storage that compresses.
const COMPRESSIBLE: f64 = 0.9;

/// The compressed share by rule or sample, whichever is less, if it is low; an inner `None` if unknown.
pub(crate) fn shrinks_to(seen: &DoubtInputs) -> Option<Option<f64>> {
    let known = [seen.compressed_share, seen.sampled_share].into_iter().flatten().reduce(f64::min);
    (!known.is_some_and(|share| share >= COMPRESSIBLE)).then_some(known)
}

/// The compressed share of data that files were laid out with before reading, if it is low.
pub(crate) fn laid_out_compressible(seen: &DoubtInputs) -> Option<f64> {
    seen.laid_out_share.filter(|share| *share < COMPRESSIBLE)
}

/// Whether the file system compresses, with the mount option: "btrfs (compress=zstd:3)".
pub(crate) fn compresses(environment: &Value) -> Option<String> {
    let filesystem = environment.get("filesystem")?;
    let kind = filesystem.get("type")?.as_str()?;
    let options = filesystem.get("options").and_then(Value::as_str).unwrap_or("");
    let option = options.split(',').find(|o| o.starts_with("compress"));
    let compresses = match kind {
        "btrfs" | "f2fs" => option.is_some_and(|o| o != "compress=no" && o != "compress=none"),
        "zfs" | "bcachefs" => true,
        _ => false,
    };
    compresses.then(|| format!("{kind} compresses{}", option.map(|o| format!(" ({o})")).unwrap_or_default()))
}

pub(super) fn check(run: &Run, environment: &Value, seen: &DoubtInputs) -> Trust {
    let written = written(run, environment, seen);
    let Some(share) = laid_out_compressible(seen) else { return written };
    // Reading it back moves less at a device that compresses, and nothing at one that detects zeros.
    let words = format!("The files read were laid out compressible: they shrink to {}", percent(share));
    let all = match run.phases.iter().any(|p| p.writes) {
        true => format!("{words}; {}", uncapitalised(written.sentence.trim_end_matches('.'))),
        false => words,
    };
    one("data", Verdict::Doubtful, &all)
}

fn written(run: &Run, environment: &Value, seen: &DoubtInputs) -> Trust {
    if !run.phases.iter().any(|p| p.writes) {
        return one("data", Verdict::Good, "Nothing was written");
    }
    let words = match (seen.sampled_share, seen.compressed_share) {
        (Some(sample), Some(rule)) => format!(
            "Written data shrinks to {} by zstd (a sample), to {} by its rule",
            percent(sample),
            percent(rule)
        ),
        (Some(sample), None) => format!("Written data shrinks to {} by zstd (a sample)", percent(sample)),
        (None, Some(rule)) => format!("Written data shrinks to {} by its rule", percent(rule)),
        (None, None) => "The compressibility of written data is not known".into(),
    };
    match (compresses(environment), shrinks_to(seen)) {
        (_, None) => one("data", Verdict::Good, &words),
        (Some(who), Some(_)) => one("data", Verdict::Doubtful, &format!("{words}; the {who}")),
        (None, Some(None)) => one("data", Verdict::Unknown, &words),
        (None, Some(Some(_))) => {
            one("data", Verdict::Unknown, &format!("{words}; whether the device compresses is not known"))
        }
    }
}

/// Lower-cases the first letter, for the middle of a sentence.
fn uncapitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|c| c.to_lowercase().chain(characters).collect()).unwrap_or_default()
}
