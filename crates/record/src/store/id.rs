//! Run ids: text that sorts by time, is unique on a machine, and can be given by its first characters.

use jiff::Timestamp;

/// A new run id such as "20261121T210531-1a2b3c": the second in UTC (local time would run backwards once a year), then three
/// hexadecimal digits for the 4096th of the second, so that ids also sort within it, then three that mix in the process number.
#[must_use]
pub fn new_run_id(now: Timestamp, pid: u32) -> String {
    let second = now.strftime("%Y%m%dT%H%M%S");
    let nanos = now.subsec_nanosecond().unsigned_abs();
    let fraction = u64::from(nanos) * 4096 / 1_000_000_000;
    // A multiplication by an odd constant spreads neighbouring process numbers over the high bits.
    let mixed = (u64::from(pid) ^ (u64::from(nanos) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    format!("{second}-{fraction:03x}{mixed:03x}")
}

/// Whether a word has the form of a run id.
#[must_use]
pub fn is_run_id(word: &str) -> bool {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let hex = |text: &str| text.len() == 6 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let time = |text: &str| text.split_once('T').is_some_and(|(day, time)| digits(day, 8) && digits(time, 6));
    word.split_once('-').is_some_and(|(when, rest)| time(when) && hex(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_told_from_other_words() {
        assert!(is_run_id(&new_run_id(at("2026-11-21T21:05:31.5Z"), 4711)));
        for word in [
            "",
            "old",
            "20261121T210531",
            "20261121T210531-80",
            "2026112T1210531-800abc",
            "20261121T21053x-800abc",
        ] {
            assert!(!is_run_id(word), "{word}");
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time stamp")
    }

    #[test]
    fn an_id_says_when() {
        let id = new_run_id(at("2026-11-21T21:05:31.5Z"), 4711);
        assert!(id.starts_with("20261121T210531-800"), "{id}");
        assert_eq!(id.len(), 22);
    }

    #[test]
    fn ids_sort_by_time() {
        let times = [
            "2026-11-21T21:05:31.001Z",
            "2026-11-21T21:05:31.002Z",
            "2026-11-21T21:05:32Z",
            "2027-01-01T00:00:00Z",
        ];
        let ids: Vec<String> = times.iter().map(|t| new_run_id(at(t), 99)).collect();
        assert!(ids.is_sorted(), "{ids:?}");
    }

    #[test]
    fn two_processes_at_the_same_instant_differ() {
        let now = at("2026-11-21T21:05:31.25Z");
        assert_ne!(new_run_id(now, 1000), new_run_id(now, 1001));
    }
}
