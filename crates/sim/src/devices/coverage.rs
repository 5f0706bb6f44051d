//! What a trace has: of requests of another kind, size or order, or at another depth, a profile that was fitted to it knows nothing.

use fathom_record::block::{DeviceActivity, RequestClass, RequestStats};
use fathom_record::origin::bytes_words;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// A smaller share of a simulation's requests matters little.
const NOTABLE: f64 = 0.01;
/// Fewer requests of a kind tell nothing of it.
const LEAST: u64 = 20;
/// The mean size and the mean depth of a simulation may lie beyond what the trace has by this factor.
const NEAR: f64 = 1.5;
/// The share at either end of sizes and depths that is left out.
const TAIL: f64 = 0.05;
/// Requests are out of order below the one share, and in order above the other.
const FEW_PERCENT: f64 = 10.0;
const MOST_PERCENT: f64 = 50.0;

/// What the requests of a trace were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Reads, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Span>,
    /// Writes, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<Span>,
    /// Requests that the device had at once while it had any: from, to.
    depth: [u32; 2],
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    requests: u64,
    /// Their sizes: from, to.
    bytes: [u64; 2],
    /// The share of them that began where the one before ended.
    in_order_percent: f64,
}

impl Span {
    fn of(stats: &RequestStats) -> Option<Self> {
        let sizes: Vec<(u64, u64)> = stats.sizes.iter().map(|s| (s.bytes, s.count)).collect();
        let bytes = typical(&sizes)?;
        // A digit behind the point, as it is written.
        let in_order_percent = (10.0 * in_order_percent(stats)).round() / 10.0;
        Some(Self { requests: stats.issued, bytes, in_order_percent })
    }
}

impl Coverage {
    /// What a device had, in a trace or in a simulation.
    #[must_use]
    pub fn of(device: &DeviceActivity) -> Self {
        let of = |class| device.class(class).and_then(Span::of);
        let depths: Vec<(u64, u64)> =
            device.in_device.iter().filter(|d| d.depth > 0).map(|d| (d.depth.into(), d.ns)).collect();
        let depth = typical(&depths).unwrap_or([1, 1]).map(|d| u32::try_from(d).unwrap_or(u32::MAX));
        Self { reads: of(RequestClass::Read), writes: of(RequestClass::Write), depth }
    }

    /// What is wrong with one that was read: key, value, what is expected.
    pub(super) fn wrong(&self) -> Option<(&'static str, String, &'static str)> {
        let span = |of: &Option<Span>| of.clone().unwrap_or(Span { bytes: [1, 1], ..Span::default() });
        let (reads, writes) = (span(&self.reads), span(&self.writes));
        let rising = |[from, to]: [u64; 2]| from >= 1 && from <= to;
        let share = |percent: f64| (0.0..=100.0).contains(&percent);
        const SPAN: &str = "from and to, 1 or more, the smaller first";
        const SHARE: &str = "0 to 100";
        let checks = [
            ("trace.depth", format!("{:?}", self.depth), rising(self.depth.map(u64::from)), SPAN),
            ("trace.reads.bytes", format!("{:?}", reads.bytes), rising(reads.bytes), SPAN),
            ("trace.writes.bytes", format!("{:?}", writes.bytes), rising(writes.bytes), SPAN),
            (
                "trace.reads.in_order_percent",
                reads.in_order_percent.to_string(),
                share(reads.in_order_percent),
                SHARE,
            ),
            (
                "trace.writes.in_order_percent",
                writes.in_order_percent.to_string(),
                share(writes.in_order_percent),
                SHARE,
            ),
        ];
        checks.into_iter().find(|c| !c.2).map(|(key, value, _, expected)| (key, value, expected))
    }

    /// As a table of a profile.
    #[must_use]
    pub fn table(&self) -> String {
        let [least, most] = self.depth;
        let mut text =
            String::from("\n# What the trace has. Of anything else this profile knows nothing.\n[trace]\n");
        // Writing to a text cannot fail.
        for (name, span) in [("reads", &self.reads), ("writes", &self.writes)] {
            let Some(Span { requests, bytes: [from, to], in_order_percent }) = span else { continue };
            let _ = writeln!(
                text,
                "{name} = {{ requests = {requests}, bytes = [{from}, {to}], in_order_percent = {in_order_percent:.1} }}"
            );
        }
        let _ = writeln!(text, "depth = [{least}, {most}]");
        text
    }

    /// What the trace has in place of a simulation's requests, in words that follow on "the trace has"; empty if it has such requests.
    #[must_use]
    pub fn instead_of(&self, ran: &DeviceActivity) -> Vec<String> {
        let all: u64 = ran.requests.iter().map(|r| r.issued).sum();
        let notable = |class| ran.class(class).filter(|r| r.issued as f64 >= NOTABLE * all as f64);
        let mut instead = Vec::new();
        for (class, name, has) in
            [(RequestClass::Read, "reads", &self.reads), (RequestClass::Write, "writes", &self.writes)]
        {
            let Some(ran) = notable(class) else { continue };
            match has {
                None => instead.push(format!("no {name}")),
                Some(has) if has.requests < LEAST => instead.push(format!("fewer than {LEAST} {name}")),
                Some(has) => instead.extend(has.instead_of(ran, name)),
            }
        }
        // A profile of no kind is fitted to flushes.
        if notable(RequestClass::Flush).is_some() {
            instead.push("no flushes that could be fitted".into());
        }
        let depths = ran.in_device.iter().map(|d| (d.depth.into(), d.ns));
        if let Some(depth) =
            mean(depths.filter(|d| d.0 > 0)).filter(|d| beyond(self.depth.map(f64::from), *d))
        {
            let [least, most] = self.depth.map(|d| d.to_string());
            instead.push(format!("a queue depth of {} (here {depth:.1})", between(least, most)));
        }
        instead
    }
}

impl Span {
    fn instead_of(&self, ran: &RequestStats, name: &str) -> Vec<String> {
        let mut instead = Vec::new();
        let size = mean(ran.sizes.iter().map(|s| (s.bytes, s.count)));
        if let Some(size) = size.filter(|s| beyond(self.bytes.map(|b| b as f64), *s)) {
            let [least, most] = self.bytes.map(bytes_words);
            let here = bytes_words(size.round() as u64);
            instead.push(format!("only {name} of {} (here {here})", between(least, most)));
        }
        let (has, ran) = (self.in_order_percent, in_order_percent(ran));
        if has < FEW_PERCENT && ran > MOST_PERCENT {
            instead.push(format!("only {name} out of order (here in order)"));
        } else if has > MOST_PERCENT && ran < FEW_PERCENT {
            instead.push(format!("only {name} in order (here out of order)"));
        }
        instead
    }
}

/// The values between which all lie but the few at either end, and the mean: few large ones may be most of it. `None` where there are
/// none.
fn typical(values: &[(u64, u64)]) -> Option<[u64; 2]> {
    let all: u64 = values.iter().map(|v| v.1).sum();
    let at = |share: f64| {
        let mut below = 0;
        let reached = |v: &&(u64, u64)| {
            below += v.1;
            below as f64 > share * all as f64
        };
        values.iter().find(reached).map(|v| v.0)
    };
    let mean = mean(values.iter().copied())?.round() as u64;
    Some([at(TAIL)?.min(mean), at(1.0 - TAIL)?.max(mean)])
}

/// The mean of values that occur so many times, or last so long; `None` where there are none.
fn mean(values: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let add = |(sum, all): (f64, f64), (value, weight): (u64, u64)| {
        (sum + value as f64 * weight as f64, all + weight as f64)
    };
    let (sum, all) = values.fold((0.0, 0.0), add);
    (all > 0.0).then(|| sum / all)
}

fn in_order_percent(stats: &RequestStats) -> f64 {
    let seeks = &stats.seeks;
    let all = seeks.sequential + seeks.forward + seeks.backward;
    100.0 * seeks.sequential as f64 / all.max(1) as f64
}

/// Whether a value lies outside of a span, and not near it.
fn beyond([least, most]: [f64; 2], value: f64) -> bool {
    value < least / NEAR || value > most * NEAR
}

fn between(least: String, most: String) -> String {
    if least == most { least } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::block::{DepthTime, Seeks, SizeCount};

    fn requests(class: RequestClass, issued: u64, bytes: u64, in_order: u64) -> RequestStats {
        let seeks = Seeks { sequential: in_order, forward: issued - in_order, ..Seeks::default() };
        let sizes = vec![SizeCount { bytes, count: issued }];
        RequestStats { class, issued, sizes, seeks, ..RequestStats::default() }
    }

    fn device(requests: Vec<RequestStats>, depths: &[(u32, u64)]) -> DeviceActivity {
        let in_device = depths.iter().map(|&(depth, ns)| DepthTime { depth, ns }).collect();
        DeviceActivity { requests, in_device, ..DeviceActivity::default() }
    }

    fn random_reads() -> DeviceActivity {
        device(vec![requests(RequestClass::Read, 1000, 4096, 3)], &[(0, 500), (1, 20), (4, 900), (9, 10)])
    }

    #[test]
    fn what_the_trace_has_is_calibrated() {
        let coverage = Coverage::of(&random_reads());
        assert_eq!(coverage.depth, [4, 4]);
        assert_eq!(coverage.instead_of(&random_reads()), [""; 0]);
        let deeper = device(vec![requests(RequestClass::Read, 50, 4096, 0)], &[(6, 100)]);
        assert_eq!(coverage.instead_of(&deeper), [""; 0], "as near as that it may be");
    }

    #[test]
    fn of_what_it_has_not_nothing_is_known() {
        let coverage = Coverage::of(&random_reads());
        let others = device(
            vec![
                requests(RequestClass::Read, 100, 131_072, 99),
                requests(RequestClass::Write, 50, 4096, 0),
                requests(RequestClass::Flush, 50, 0, 0),
            ],
            &[(1, 100)],
        );
        assert_eq!(
            coverage.instead_of(&others),
            [
                "only reads of 4 KiB (here 128 KiB)",
                "only reads out of order (here in order)",
                "no writes",
                "no flushes that could be fitted",
                "a queue depth of 4 (here 1.0)"
            ]
        );
        let few = device(
            vec![requests(RequestClass::Read, 1000, 4096, 3), requests(RequestClass::Write, 5, 4096, 0)],
            &[(4, 1)],
        );
        assert_eq!(coverage.instead_of(&few), [""; 0], "a write in two hundred reads");
        let writes = device(vec![requests(RequestClass::Write, 1000, 4096, 3)], &[(4, 1)]);
        assert_eq!(Coverage::of(&few).instead_of(&writes), ["fewer than 20 writes"]);
    }

    #[test]
    fn a_trace_has_its_own_requests() {
        // Nineteen in twenty are small, and most of the bytes are not.
        let mut reads = requests(RequestClass::Read, 1000, 4096, 3);
        reads.sizes = vec![SizeCount { bytes: 4096, count: 960 }, SizeCount { bytes: 1 << 20, count: 40 }];
        let both = device(vec![reads], &[(1, 960), (64, 40)]);
        assert_eq!(Coverage::of(&both).instead_of(&both), [""; 0]);
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        let shipped = crate::devices::text("constant").unwrap();
        for (trace, key) in [
            ("depth = [0, 0]", "trace.depth"),
            ("depth = [4, 1]", "trace.depth"),
            (
                "depth = [1, 1]\nreads = { requests = 9, bytes = [8, 4], in_order_percent = 0 }",
                "trace.reads.bytes",
            ),
            (
                "depth = [1, 1]\nwrites = { requests = 9, bytes = [4, 8], in_order_percent = nan }",
                "trace.writes.in_order_percent",
            ),
        ] {
            let text = format!("{shipped}\n[trace]\n{trace}\n");
            let wrong = crate::devices::DeviceProfile::parse("mine", &text).unwrap_err().to_string();
            assert!(wrong.contains(key), "{trace}: {wrong}");
        }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let coverage = Coverage::of(&random_reads());
        let table: toml::Table = coverage.table().parse().unwrap();
        assert_eq!(table["trace"].clone().try_into::<Coverage>().unwrap(), coverage);
    }
}
