//! Sizes with percentages, as in `bssplit`. As in fio 3.33, sizes without a percentage, or with 0, share the remainder. If all have one
//! and a remainder is left, it goes to the largest share; among equal shares, to the last.

use super::number::bytes;

/// `size/percent:size/percent...`: sizes with percentages that add up to 100.
///
/// # Errors
/// A message that says what was expected.
pub fn read(text: &str, kb_base: u64) -> Result<Vec<(u64, f64)>, String> {
    const MOST: usize = 64;
    let mut found: Vec<(u64, Option<u64>)> = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        found.push((bytes(size, kb_base)?, percentage(part, percent)?));
    }
    if found.len() > MOST {
        return Err(format!("{} sizes; at most {MOST} are expected", found.len()));
    }
    let given = found.iter().filter_map(|f| f.1).fold(0, u64::saturating_add);
    if given > 100 {
        return Err(format!("the percentages add up to {given}; at most 100 is expected"));
    }
    let left = 100 - given;
    let open = found.iter().filter(|f| f.1.is_none()).count();
    if open == 0
        && let Some(largest) = found.iter_mut().max_by_key(|f| f.1)
    {
        largest.1 = largest.1.map(|percent| percent + left);
    }
    let rest = left as f64 / open.max(1) as f64;
    let weighted = found.into_iter().map(|(size, percent)| (size, percent.map_or(rest, |p| p as f64)));
    Ok(weighted.filter(|w| w.1 > 0.0).collect())
}

fn percentage(part: &str, percent: &str) -> Result<Option<u64>, String> {
    match percent.trim().trim_end_matches('%') {
        "" => Ok(None),
        number => match number.parse::<u64>() {
            Ok(0) => Ok(None),
            Ok(p @ 1..=100) => Ok(Some(p)),
            _ => Err(format!("{part:?}: {number:?} is not a percentage from 0 to 100")),
        },
    }
}

/// Whether every size has a percentage and they add up to less than 100.
#[must_use]
pub fn leaves_something(text: &str) -> bool {
    text.split(',').filter(|list| !list.trim().is_empty()).any(|list| {
        let percentages = list.split(':').map(|part| {
            let percent = part.split_once('/').map_or("", |(_, percent)| percent);
            percentage(part, percent).ok().flatten()
        });
        percentages.sum::<Option<u64>>().is_some_and(|sum| sum < 100)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::planned;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splits_share_what_is_left() {
        assert_eq!(read("4k/10:64k/50:32k/40", 1024), Ok(vec![(4096, 10.0), (65536, 50.0), (32768, 40.0)]));
        assert_eq!(read("4k/50:8k:16k", 1024), Ok(vec![(4096, 50.0), (8192, 25.0), (16384, 25.0)]));
        assert!(read("4k/60:8k/50", 1024).unwrap_err().contains("110"));
    }

    #[test]
    fn the_rest_goes_to_the_largest_share() {
        // As counted in a log of fio 3.33.
        assert_eq!(read("4k/10:8k/20:16k/30", 1024), Ok(vec![(4096, 10.0), (8192, 20.0), (16384, 70.0)]));
        assert_eq!(read("8k/50:4k/20", 1024), Ok(vec![(8192, 80.0), (4096, 20.0)]));
        assert_eq!(read("8k/40:4k/40", 1024), Ok(vec![(8192, 40.0), (4096, 60.0)]));
        assert_eq!(read("4k/10", 1024), Ok(vec![(4096, 100.0)]));
        // 0 counts as no percentage.
        assert_eq!(read("4k/0:8k/50", 1024), Ok(vec![(4096, 50.0), (8192, 50.0)]));
        assert_eq!(read("4k/0:8k/50:16k/50", 1024), Ok(vec![(8192, 50.0), (16384, 50.0)]));
        assert!(leaves_something("4k/10:8k/20") && leaves_something("4k/100,4k/10"));
        assert!(!leaves_something("4k/50:8k") && !leaves_something("4k/40:8k/60,") && !leaves_something(""));
        let plan = planned("--name=a --rw=write --size=1m --bssplit=4k/10:8k/20");
        assert!(plan.notes.iter().any(|n| n.contains("largest share")), "{:?}", plan.notes);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (read(&text, 1024), leaves_something(&text));
        }
    }
}
