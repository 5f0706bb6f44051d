//! Merges several blktrace recordings: events in order of time, as records in x86 byte order.

use super::record::{PerCpu, Record};
use super::words::is_note;
use crate::trace::{TraceError, TracePlace};
use std::io::Cursor;

/// A recording and how it is merged.
#[derive(Clone, Debug)]
pub struct CpuRecording {
    /// Name for errors.
    pub name: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
    /// Scale of its times in percent.
    pub time_percent: f64,
    /// Number of repetitions, one after another.
    pub times: u64,
}

/// Merges recordings by time of their events. Records without a time, such as task names, are dropped.
///
/// # Errors
/// If a part is not a blktrace recording, or there are more than `most` events in total.
pub fn merge(parts: &[CpuRecording], most: usize) -> Result<Vec<u8>, TraceError> {
    let mut all: Vec<Record> = Vec::new();
    for part in parts {
        let own = records(part)?;
        let wrong = |what: &str| TraceError::new(&part.name, TracePlace::Whole, what);
        let many = u64::try_from(own.len()).ok().and_then(|n| n.checked_mul(part.times));
        if many.is_none_or(|many| many.saturating_add(all.len() as u64) > most as u64) {
            return Err(wrong(&format!("with it the traces have more than {most} events together")));
        }
        let length = own.iter().map(|record| record.time_ns).max().unwrap_or(0);
        for turn in 0..part.times {
            let scaled = |record: &Record| {
                let time = u128::from(record.time_ns) + u128::from(length) * u128::from(turn);
                Record { time_ns: (time as f64 * part.time_percent / 100.0) as u64, ..record.clone() }
            };
            all.extend(own.iter().map(scaled));
        }
    }
    all.sort_by_key(|record| record.time_ns);
    let mut bytes = Vec::new();
    (1..).zip(&all).for_each(|(number, record)| record.write(number, &mut bytes));
    Ok(bytes)
}

fn records(part: &CpuRecording) -> Result<Vec<Record>, TraceError> {
    let mut file = PerCpu::new(part.name.clone(), Box::new(Cursor::new(part.bytes.clone())));
    let mut records = Vec::new();
    while let Some(record) = file.record()? {
        if !is_note(record.action) {
            records.push(record);
        }
    }
    if file.cut {
        return Err(TraceError::new(
            &part.name,
            TracePlace::Whole,
            "it ends in the middle of a record, and is not merged",
        ));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording of reads that arrived at these times, in us.
    fn part(name: &str, times_us: &[u64], time_percent: f64, times: u64) -> CpuRecording {
        let mut bytes = Vec::new();
        for time in times_us {
            let record = Record {
                time_ns: time * 1000,
                sector: 8,
                bytes: 4096,
                action: 1 << 20 | 1 << 16 | 1,
                pid: 1,
                device: 8 << 20,
                cpu: 0,
                error: 0,
                payload: vec![7; 3],
            };
            record.write(1, &mut bytes);
        }
        CpuRecording { name: name.into(), bytes, time_percent, times }
    }

    fn times_us(parts: &[CpuRecording]) -> Vec<u64> {
        let bytes = merge(parts, 100).unwrap();
        let part = CpuRecording { bytes, ..part("merged", &[], 100.0, 1) };
        records(&part).unwrap().iter().map(|record| record.time_ns / 1000).collect()
    }

    #[test]
    fn events_of_all_are_in_the_order_of_time() {
        let (a, b) = (part("a", &[10, 20, 30], 100.0, 1), part("b", &[5, 25], 100.0, 1));
        assert_eq!(times_us(&[a, b]), [5, 10, 20, 25, 30]);
    }

    #[test]
    fn each_is_scaled_and_repeated_on_its_own() {
        let (a, b) = (part("a", &[10, 20], 50.0, 2), part("b", &[7], 200.0, 1));
        assert_eq!(times_us(&[a, b]), [5, 10, 14, 15, 20]);
    }

    #[test]
    fn invalid_or_too_long_recordings_are_refused() {
        let junk = CpuRecording { bytes: vec![b'x'; 64], ..part("junk", &[], 100.0, 1) };
        assert!(merge(&[junk], 100).unwrap_err().to_string().contains("expected a record of blktrace"));
        for times in [51, u64::MAX] {
            let why = merge(&[part("a", &[10, 20], 100.0, times)], 100).unwrap_err().to_string();
            assert!(why.contains("more than 100 events"), "{why}");
        }
    }
}
