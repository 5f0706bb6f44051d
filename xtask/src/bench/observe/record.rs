//! What these benches read from a record of fathom: requests that reached the first device, events lost, what watching cost.

use anyhow::{Context as _, Result};
use serde_json::Value;

/// What the measured threads are called among the issuers.
const MEASURED: &str = "fathom";

/// A repetition of a record.
pub struct RepetitionRecord<'a>(&'a Value);

impl<'a> RepetitionRecord<'a> {
    /// The first repetition of the first phase.
    pub fn first(record: &'a Value) -> Result<Self> {
        let repetition = &record["phases"][0]["repetitions"][0];
        anyhow::ensure!(repetition.is_object(), "the record has no repetition");
        Ok(Self(repetition))
    }

    /// Operations of all workers.
    pub fn operations(&self) -> u64 {
        self.0["workers"].as_array().into_iter().flatten().filter_map(|w| w["ops"].as_u64()).sum()
    }

    pub fn workers(&self) -> &'a Value {
        &self.0["workers"]
    }

    /// The block layer's part, if events were watched.
    pub fn block(&self) -> Option<&'a Value> {
        Some(&self.0["block"]).filter(|b| b.is_object())
    }

    /// A figure of the reads of the first device by its events.
    pub fn reads(&self, key: &str) -> Option<u64> {
        self.stats()?[key].as_u64()
    }

    /// Bytes of the reads that the measured threads issued to it. Neighbours on a shared disk are not counted, nor are fathom's other
    /// threads: the one that reads events may have to fetch pages of the program from that disk first (500 KiB of it were seen once in
    /// twenty runs, after somebody had dropped the caches). Bytes, since two reads of neighbouring places may become one request.
    pub fn asked_bytes(&self) -> Option<u64> {
        let issuers = self.block()?["devices"][0]["issuers"].as_array()?;
        let measured = |i: &&Value| i["kind"] == "own" && i["name"] == MEASURED;
        Some(issuers.iter().filter(measured).filter_map(|i| i["read_bytes"].as_u64()).sum())
    }

    /// And how many of those were completed, if every read of somebody else was.
    pub fn answered_bytes(&self) -> Option<u64> {
        let others = self.reads("issued_bytes")?.saturating_sub(self.asked_bytes()?);
        Some(self.reads("completed_bytes")?.saturating_sub(others))
    }

    fn stats(&self) -> Option<&'a Value> {
        self.block()?["devices"][0]["requests"].as_array()?.iter().find(|r| r["class"] == "read")
    }

    /// Sizes of those reads: (bytes, how many).
    pub fn read_sizes(&self) -> Vec<(u64, u64)> {
        let of = |s: &Value| Some((s["bytes"].as_u64()?, s["count"].as_u64()?));
        self.stats().and_then(|s| s["sizes"].as_array()).into_iter().flatten().filter_map(of).collect()
    }

    /// Reads that the device's own counters have seen meanwhile.
    pub fn counted_reads(&self) -> Result<u64> {
        self.0["physical"]["devices"][0]["read_ios"]
            .as_u64()
            .context("the record has no counters of the device")
    }

    /// Bytes of those.
    pub fn counted_bytes(&self) -> Result<u64> {
        self.0["physical"]["devices"][0]["read_bytes"]
            .as_u64()
            .context("the record has no counters of the device")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_found_where_the_record_has_them() {
        let record = json!({"phases": [{"repetitions": [{
            "workers": [{"ops": 3}, {"ops": 4}],
            "physical": {"devices": [{"read_ios": 9, "read_bytes": 36864}]},
            "block": {"lost": 0, "devices": [{"requests": [
                {"class": "write", "issued": 1}, {"class": "read", "issued": 9, "issued_bytes": 40960, "completed_bytes": 40960, "sizes": [{"bytes": 4096, "count": 9}]}],
                "issuers": [{"kind": "own", "name": "fathom", "read_bytes": 28672},
                            {"kind": "own", "name": "block-events", "read_bytes": 8192},
                            {"kind": "other", "name": "dd", "read_bytes": 4096}]}]},
        }]}]});
        let seen = RepetitionRecord::first(&record).unwrap();
        assert_eq!((seen.operations(), seen.reads("issued"), seen.reads("nothing")), (7, Some(9), None));
        assert_eq!(seen.read_sizes(), [(4096, 9)]);
        assert_eq!((seen.counted_reads().unwrap(), seen.counted_bytes().unwrap()), (9, 36864));
        assert_eq!((seen.asked_bytes(), seen.answered_bytes()), (Some(7 * 4096), Some(7 * 4096)));
        assert!(RepetitionRecord::first(&json!({})).is_err());
    }
}
