//! One line of JSON per interval and device; docs/observe.md describes the keys.

use super::history::{DirectionFigures, Moment, WatchHistory};
use super::{WatchOutput, put};
use serde_json::{Value, json};

pub struct JsonLines;

impl WatchOutput for JsonLines {
    fn show(&mut self, history: &WatchHistory) -> anyhow::Result<()> {
        if let Some(moment) = history.latest() {
            let at = jiff::Timestamp::now();
            for (device, name) in history.names.iter().enumerate() {
                put(&line(moment, device, name, at).to_string())?;
            }
        }
        Ok(())
    }
}

fn line(moment: &Moment, device: usize, name: &str, at: jiff::Timestamp) -> Value {
    let figures = moment.figures(device);
    let flow = |flow: &DirectionFigures| {
        json!({"requests_per_s": flow.requests_per_s, "bytes_per_s": flow.bytes_per_s,
               "merges_per_s": figures.merges_known.then_some(flow.merges_per_s), "mean_ns": flow.mean_ns})
    };
    let mut line = json!({
        "schema": "fathom-watch/1", "time": at.to_string(), "device": name, "seconds": moment.length.as_secs_f64(),
        "source": moment.layer.source, "reads": flow(&figures.reads), "writes": flow(&figures.writes),
        "flushes_per_s": figures.flushes_per_s, "discards_per_s": figures.discards_per_s,
        "depth_mean": figures.depth, "busy": figures.busy,
    });
    if moment.activity(device).is_some() {
        let latency = moment.latency(device);
        let at = |p| latency.percentile_ns(p);
        line["latency_ns"] =
            json!({"p50": at(50.0), "p95": at(95.0), "p99": at(99.0), "max": latency.max_ns()});
        line["sizes"] = moment.sizes(device).iter().map(|s| json!([s.bytes, s.count])).collect();
        let issuer = |i: &fathom_record::block::Issuer| {
            json!({"kind": i.kind.word(), "name": i.name, "reads": i.reads, "read_bytes": i.read_bytes,
                   "writes": i.writes, "write_bytes": i.write_bytes})
        };
        line["issuers"] = moment.issuers(device).iter().map(issuer).collect();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::moment;
    use super::*;

    #[test]
    fn a_line_has_rates_latencies_sizes_and_issuers() {
        let line = line(&moment(), 0, "vda", jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(line["schema"], "fathom-watch/1");
        assert_eq!(
            (line["reads"]["requests_per_s"].as_f64(), line["depth_mean"].as_f64()),
            (Some(100.0), Some(1.0))
        );
        assert_eq!(line["sizes"], json!([[4096, 100], [65536, 10]]));
        assert_eq!(line["issuers"][0]["name"], "fio");
        assert!(line["reads"]["merges_per_s"].is_null(), "queueing was not watched: {line}");
        let counters = super::line(&Moment::default(), 0, "vda", jiff::Timestamp::UNIX_EPOCH);
        assert!(counters.get("latency_ns").is_none() && counters["reads"]["mean_ns"].is_null());
    }
}
