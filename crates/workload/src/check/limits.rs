//! Checks ratios, minimum rates and maximum latencies: none may be empty or impossible to meet.

use crate::{Direction, Duration, Least, Longest, Ratio, Stream};

/// Largest weight; finer ratios have no use.
const HEAVIEST: u32 = 1_000_000;

pub(super) fn errors(stream: &Stream) -> Vec<String> {
    let mut errors = Vec::new();
    errors.extend(stream.pace.ratio.and_then(|ratio| of_ratio(stream, ratio)));
    errors.extend(stream.pace.least.and_then(|least| of_least(stream, least)));
    errors.extend(stream.pace.longest.and_then(of_longest));
    errors
}

fn of_ratio(stream: &Stream, ratio: Ratio) -> Option<String> {
    if ratio.weight == 0 || ratio.weight > HEAVIEST {
        return Some(format!("the weight {} of a ratio is not above 0 and at most {HEAVIEST}", ratio.weight));
    }
    stream.adaptive_depth.is_some().then(|| {
        "ratio and adaptive_depth do not go together: workers in a ratio wait for each other, which disturbs the search".into()
    })
}

fn of_least(stream: &Stream, least: Least) -> Option<String> {
    if least.window == Duration(0) {
        return Some("the window of least is 0; 1s is the default".into());
    }
    let reads = least.read_bytes_per_s > 0 || least.reads_per_s > 0;
    let writes = least.write_bytes_per_s > 0 || least.writes_per_s > 0;
    match stream.direction {
        _ if !reads && !writes => Some("least sets no rate; leave it out instead".into()),
        Direction::Read if writes => Some("least sets a write rate, but the stream only reads".into()),
        Direction::Write if reads => Some("least sets a read rate, but the stream only writes".into()),
        _ => None,
    }
}

fn of_longest(longest: Longest) -> Option<String> {
    (longest == Longest::default()).then(|| "longest sets no limit; leave it out instead".into())
}

#[cfg(test)]
mod tests {
    use crate::{Bytes, Direction, Duration, Least, Longest, Ratio, Stream};

    fn wrong(set: impl FnOnce(&mut Stream)) -> String {
        let mut stream = Stream::new("f", Direction::Read, Bytes(4096));
        set(&mut stream);
        super::errors(&stream).join("; ")
    }

    #[test]
    fn limits_without_effect_are_refused() {
        let ratio = |weight| Some(Ratio { group: 0, weight, sleep: Duration(0) });
        assert_eq!(wrong(|s| s.pace.ratio = ratio(8)), "");
        assert!(wrong(|s| s.pace.ratio = ratio(0)).contains("weight 0"));
        assert!(wrong(|s| s.pace.least = Some(Least::default())).contains("sets no rate"));
        let reads = Least { reads_per_s: 10, ..Least::default() };
        assert_eq!(wrong(|s| s.pace.least = Some(reads)), "");
        let unlooked = Least { window: Duration(0), ..reads };
        assert!(wrong(|s| s.pace.least = Some(unlooked)).contains("window"));
        let writes = Least { write_bytes_per_s: 10, ..Least::default() };
        assert!(wrong(|s| s.pace.least = Some(writes)).contains("only reads"));
        assert!(wrong(|s| s.pace.longest = Some(Longest::default())).contains("no limit"));
    }
}
