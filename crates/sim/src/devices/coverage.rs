//! What one or several traces cover. A profile fitted to them is not valid for requests of another kind, size, order or depth.

use fathom_record::block::{DeviceActivity, RequestClass, RequestStats};
use fathom_record::origin::bytes_words;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Share of a simulation's requests below which a difference is ignored.
const NOTABLE: f64 = 0.01;
/// Minimum number of requests of a kind.
const LEAST: u64 = 20;
/// Factor by which a simulation's mean size and depth may exceed the trace's range.
const NEAR: f64 = 1.5;
/// Share at each end of sizes and depths that is ignored.
const TAIL: f64 = 0.05;
/// Among several traces, one with a smaller share of a kind is ignored for that kind's depth and sizes.
const TELLING: f64 = 0.05;
/// Below the first percentage requests are out of order, above the second in order.
const FEW_PERCENT: f64 = 10.0;
const MOST_PERCENT: f64 = 50.0;

/// The requests of one or several traces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Reads, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Span>,
    /// Writes, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<Span>,
    /// Number of flushes, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    flushes: Option<u64>,
    /// Queue depth while the device was busy: from, to.
    depth: [u32; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    requests: u64,
    /// Request sizes: from, to.
    bytes: [u64; 2],
    /// Share of requests that start where the previous one ended: lowest and highest of the traces.
    in_order_percent: [f64; 2],
    /// Queue depth over all kinds in the traces that have this kind.
    depth: [u32; 2],
}

impl Span {
    fn of(stats: &RequestStats, depth: [u32; 2]) -> Option<Self> {
        let sizes: Vec<(u64, u64)> = stats.sizes.iter().map(|s| (s.bytes, s.count)).collect();
        let bytes = typical(&sizes)?;
        // Rounded to one decimal, as it is written.
        let in_order_percent = (10.0 * in_order_percent(stats)).round() / 10.0;
        Some(Self { requests: stats.issued, bytes, in_order_percent: [in_order_percent; 2], depth })
    }

    fn joined(self, other: Self) -> Self {
        fn both<T: PartialOrd + Copy>(a: [T; 2], b: [T; 2]) -> [T; 2] {
            [if b[0] < a[0] { b[0] } else { a[0] }, if b[1] > a[1] { b[1] } else { a[1] }]
        }
        Self {
            requests: self.requests + other.requests,
            bytes: both(self.bytes, other.bytes),
            in_order_percent: both(self.in_order_percent, other.in_order_percent),
            depth: both(self.depth, other.depth),
        }
    }

    /// As text: "reads of 4 KiB out of order".
    fn words(&self, name: &str) -> String {
        let [least, most] = self.bytes.map(bytes_words);
        let order = match self.in_order_percent {
            [_, most] if most < FEW_PERCENT => " out of order",
            [least, _] if least > MOST_PERCENT => " in order",
            _ => "",
        };
        format!("{name} of {}{order}", between(least, most))
    }
}

impl Coverage {
    /// Coverage of a trace's or a simulation's device activity.
    #[must_use]
    pub fn of(device: &DeviceActivity) -> Self {
        let depths: Vec<(u64, u64)> =
            device.in_device.iter().filter(|d| d.depth > 0).map(|d| (d.depth.into(), d.ns)).collect();
        let depth = typical(&depths).unwrap_or([1, 1]).map(|d| u32::try_from(d).unwrap_or(u32::MAX));
        let of = |class| device.class(class).and_then(|stats| Span::of(stats, depth));
        let flushes = device.class(RequestClass::Flush).map(|flushes| flushes.issued).filter(|n| *n > 0);
        Self { reads: of(RequestClass::Read), writes: of(RequestClass::Write), flushes, depth }
    }

    /// Combined coverage of several traces. A kind that is negligible in a trace is ignored for that trace.
    #[must_use]
    pub fn union<'c>(all: impl IntoIterator<Item = &'c Self>) -> Self {
        let mut whole: Option<Self> = None;
        for one in all {
            let requests = |span: &Option<Span>| span.as_ref().map_or(0, |s| s.requests) as f64;
            let sum = requests(&one.reads) + requests(&one.writes);
            let telling = |span: &Option<Span>| span.clone().filter(|s| s.requests as f64 >= TELLING * sum);
            let add = |to: Option<Span>, span: &Option<Span>| match (to, telling(span)) {
                (Some(to), Some(span)) => Some(to.joined(span)),
                (to, span) => to.or(span),
            };
            let so_far = whole.unwrap_or_else(|| Self { depth: one.depth, ..Self::default() });
            let flushes = so_far.flushes.unwrap_or(0) + one.flushes.unwrap_or(0);
            whole = Some(Self {
                reads: add(so_far.reads, &one.reads),
                writes: add(so_far.writes, &one.writes),
                flushes: Some(flushes).filter(|n| *n > 0),
                depth: [so_far.depth[0].min(one.depth[0]), so_far.depth[1].max(one.depth[1])],
            });
        }
        whole.unwrap_or_else(|| Self { depth: [1, 1], ..Self::default() })
    }

    /// For a profile that is not fitted to flushes.
    #[must_use]
    pub fn without_flushes(self) -> Self {
        Self { flushes: None, ..self }
    }

    /// As text: "reads of 4 KiB out of order, flushes; queue depth 1 to 4".
    #[must_use]
    pub fn words(&self) -> String {
        let spans = [("reads", &self.reads), ("writes", &self.writes)];
        let sum: u64 = spans.iter().filter_map(|(_, span)| span.as_ref()).map(|s| s.requests).sum();
        let span_words = |(name, span): (&str, &Option<Span>)| {
            span.as_ref().filter(|s| s.requests as f64 >= TELLING * sum as f64).map(|s| s.words(name))
        };
        let mut words: Vec<String> = spans.into_iter().filter_map(span_words).collect();
        words.extend(self.flushes.filter(|n| *n >= LEAST).map(|_| "flushes".to_owned()));
        let [least, most] = self.depth.map(|d| d.to_string());
        format!("{}; queue depth {}", words.join(", "), between(least, most))
    }

    /// The first invalid value of a parsed coverage: key, value, what is expected.
    pub(super) fn wrong(&self) -> Option<(&'static str, String, &'static str)> {
        let span = |of: &Option<Span>| {
            of.clone().unwrap_or(Span { bytes: [1, 1], depth: [1, 1], ..Span::default() })
        };
        let (reads, writes) = (span(&self.reads), span(&self.writes));
        let rising = |[from, to]: [u64; 2]| from >= 1 && from <= to;
        let shares = |[from, to]: [f64; 2]| (0.0..=to).contains(&from) && to <= 100.0;
        const SPAN: &str = "two numbers from 1 on, the smaller first";
        const SHARE: &str = "two numbers from 0 to 100, the smaller first";
        let checks = [
            ("trace.depth", format!("{:?}", self.depth), rising(self.depth.map(u64::from)), SPAN),
            ("trace.reads.bytes", format!("{:?}", reads.bytes), rising(reads.bytes), SPAN),
            ("trace.writes.bytes", format!("{:?}", writes.bytes), rising(writes.bytes), SPAN),
            (
                "trace.reads.in_order_percent",
                format!("{:?}", reads.in_order_percent),
                shares(reads.in_order_percent),
                SHARE,
            ),
            ("trace.reads.depth", format!("{:?}", reads.depth), rising(reads.depth.map(u64::from)), SPAN),
            (
                "trace.writes.in_order_percent",
                format!("{:?}", writes.in_order_percent),
                shares(writes.in_order_percent),
                SHARE,
            ),
            ("trace.writes.depth", format!("{:?}", writes.depth), rising(writes.depth.map(u64::from)), SPAN),
        ];
        checks.into_iter().find(|c| !c.2).map(|(key, value, _, expected)| (key, value, expected))
    }

    /// As a table of a profile.
    #[must_use]
    pub fn table(&self) -> String {
        let [least, most] = self.depth;
        let mut text = String::from(
            "\n# Coverage of the trace. The profile is not valid for any other load.\n[trace]\n",
        );
        // Writing to a string cannot fail.
        for (name, span) in [("reads", &self.reads), ("writes", &self.writes)] {
            let Some(Span { requests, bytes, in_order_percent: [few, many], depth }) = span else { continue };
            let _ = writeln!(
                text,
                "{name} = {{ requests = {requests}, bytes = {bytes:?}, in_order_percent = [{few:.1}, {many:.1}], depth = {depth:?} }}"
            );
        }
        let _ = self.flushes.map(|flushes| writeln!(text, "flushes = {flushes}"));
        let _ = writeln!(text, "depth = [{least}, {most}]");
        text
    }

    /// What the trace has instead of a simulation's requests, as phrases that follow "the trace has"; empty if it covers them.
    #[must_use]
    pub fn instead_of(&self, ran: &DeviceActivity) -> Vec<String> {
        let all: u64 = ran.requests.iter().map(|r| r.issued).sum();
        let notable = |class| ran.class(class).filter(|r| r.issued as f64 >= NOTABLE * all as f64);
        let depths = ran.in_device.iter().map(|d| (d.depth.into(), d.ns));
        let depth = mean(depths.filter(|d| d.0 > 0));
        let is_beyond = |span: [u32; 2]| depth.filter(|d| beyond(span.map(f64::from), *d));
        let at_all = is_beyond(self.depth);
        let mut instead = Vec::new();
        for (class, name, has) in
            [(RequestClass::Read, "reads", &self.reads), (RequestClass::Write, "writes", &self.writes)]
        {
            let Some(ran) = notable(class) else { continue };
            match has {
                None => instead.push(format!("no {name}")),
                Some(has) if has.requests < LEAST => instead.push(format!("fewer than {LEAST} {name}")),
                Some(has) => {
                    instead.extend(has.instead_of(ran, name));
                    if let Some(here) = is_beyond(has.depth).filter(|_| at_all.is_none()) {
                        let [least, most] = has.depth.map(|d| d.to_string());
                        let depth = between(least, most);
                        instead.push(format!("{name} only at a queue depth of {depth} (here {here:.1})"));
                    }
                }
            }
        }
        if notable(RequestClass::Flush).is_some() && self.flushes.is_none_or(|n| n < LEAST) {
            instead.push("no flushes that could be fitted".into());
        }
        if let Some(depth) = at_all {
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
        let [least, most] = has;
        if most < FEW_PERCENT && ran > MOST_PERCENT {
            instead.push(format!("only {name} out of order (here in order)"));
        } else if least > MOST_PERCENT && ran < FEW_PERCENT {
            instead.push(format!("only {name} in order (here out of order)"));
        }
        instead
    }
}

/// The range without the tails, extended to the mean, since a few large values may dominate. `None` if there are no values.
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

/// Weighted mean, by count or duration; `None` if there are no values.
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

/// Whether a value lies well outside a range.
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
    fn loads_of_the_trace_are_covered() {
        let coverage = Coverage::of(&random_reads());
        assert_eq!(coverage.depth, [4, 4]);
        assert_eq!(coverage.instead_of(&random_reads()), [""; 0]);
        let deeper = device(vec![requests(RequestClass::Read, 50, 4096, 0)], &[(6, 100)]);
        assert_eq!(coverage.instead_of(&deeper), [""; 0], "as near as that it may be");
    }

    #[test]
    fn loads_outside_the_trace_are_not_covered() {
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
        // Nineteen in twenty are small, but most of the bytes are in large ones.
        let mut reads = requests(RequestClass::Read, 1000, 4096, 3);
        reads.sizes = vec![SizeCount { bytes: 4096, count: 960 }, SizeCount { bytes: 1 << 20, count: 40 }];
        let both = device(vec![reads], &[(1, 960), (64, 40)]);
        assert_eq!(Coverage::of(&both).instead_of(&both), [""; 0]);
    }

    #[test]
    fn several_traces_cover_what_each_has_at_its_depth() {
        let deep = device(vec![requests(RequestClass::Read, 1000, 4096, 0)], &[(32, 100)]);
        let mut single = vec![requests(RequestClass::Write, 1000, 65_536, 0)];
        single.push(requests(RequestClass::Flush, 1000, 0, 0));
        // One read per hundred writes says nothing about reads at this depth.
        single.push(requests(RequestClass::Read, 10, 1 << 20, 10));
        let single = device(single, &[(1, 100)]);
        let both = Coverage::union([&Coverage::of(&deep), &Coverage::of(&single)]);
        assert_eq!(
            both.words(),
            "reads of 4 KiB out of order, writes of 64 KiB out of order, flushes; queue depth 1 to 32"
        );
        assert_eq!([both.instead_of(&deep), both.instead_of(&single)], [[""; 0]; 2]);
        let table: toml::Table = both.table().parse().unwrap();
        assert_eq!(table["trace"].clone().try_into::<Coverage>().unwrap(), both);
        let writes = |depth| device(vec![requests(RequestClass::Write, 1000, 65_536, 0)], &[(depth, 100)]);
        assert_eq!(both.instead_of(&writes(8)), ["writes only at a queue depth of 1 (here 8.0)"]);
        assert_eq!(both.instead_of(&writes(64)), ["a queue depth of 1 to 32 (here 64.0)"]);
        let fitted = both.without_flushes().instead_of(&single);
        assert_eq!(fitted, ["no flushes that could be fitted"]);
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        let shipped = crate::devices::text("constant").unwrap();
        for (trace, key) in [
            ("depth = [0, 0]", "trace.depth"),
            ("depth = [4, 1]", "trace.depth"),
            (
                "depth = [1, 1]\nreads = { requests = 9, bytes = [8, 4], in_order_percent = [0, 1], depth = [1, 1] }",
                "trace.reads.bytes",
            ),
            (
                "depth = [1, 1]\nwrites = { requests = 9, bytes = [4, 8], in_order_percent = [0, nan], depth = [1, 1] }",
                "trace.writes.in_order_percent",
            ),
            (
                "depth = [1, 1]\nwrites = { requests = 9, bytes = [4, 8], in_order_percent = [0, 1], depth = [0, 1] }",
                "trace.writes.depth",
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
