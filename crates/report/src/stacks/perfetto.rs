//! The slowest calls as slices in time, in the JSON trace format of Chrome, which ui.perfetto.dev and chrome://tracing open. Each worker
//! is a track; a call is a slice that contains its waits, each with its kernel stack.

use super::word;
use crate::{printable::clean, section::full_title};
use fathom_record::{Repetition, Run, SlowCall, SlowCalls, WaitStack};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Tracks of a worker: calls in flight at once.
const MOST_LANES: usize = 1000;

/// The trace of all repetitions; `None` if no single call is recorded.
#[must_use]
pub fn perfetto(runs: &[&Run]) -> Option<String> {
    let mut trace = Trace::default();
    for run in runs {
        for phase in &run.phases {
            for repetition in
                phase.repetitions.iter().filter(|r| r.slow_calls.iter().any(|s| !s.examples.is_empty()))
            {
                let mut name = clean(&full_title(phase));
                if phase.repetitions.len() > 1 {
                    name += &format!(", repetition {}", repetition.n.saturating_add(1));
                }
                if runs.len() > 1 {
                    name = format!("{} {name}", clean(&run.id));
                }
                trace.repetition(&name, repetition);
            }
        }
    }
    (trace.processes > 0).then(|| {
        let whole =
            json!({"displayTimeUnit": "ns", "traceEvents": trace.events, "stackFrames": Value::Object(trace.frames)});
        whole.to_string() + "\n"
    })
}

#[derive(Default)]
struct Trace {
    events: Vec<Value>,
    /// Each frame once: its number, with its name and the frame that called it.
    frames: Map<String, Value>,
    known: HashMap<(Option<usize>, String), usize>,
    processes: u64,
}

impl Trace {
    /// One repetition is a process of the trace, whose time begins with its first noted call.
    fn repetition(&mut self, name: &str, repetition: &Repetition) {
        self.processes += 1;
        let process = self.processes;
        self.events.push(json!({"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}));
        let mut calls: Vec<(&SlowCalls, &SlowCall)> = repetition
            .slow_calls
            .iter()
            .flat_map(|slow| slow.examples.iter().map(move |call| (slow, call)))
            .collect();
        calls.sort_by_key(|(_, call)| call.start_ns);
        // Calls of a worker that are in flight at once lie on several tracks: slices of one track may not overlap.
        let mut ends: HashMap<u32, Vec<u64>> = HashMap::new();
        for (slow, call) in calls {
            let lanes = ends.entry(call.worker).or_default();
            let free = lanes.iter().position(|&end| end <= call.start_ns).unwrap_or(lanes.len());
            let lane = free.min(MOST_LANES - 1);
            let track = u64::from(call.worker) * MOST_LANES as u64 + lane as u64 + 1;
            if lane == lanes.len() {
                lanes.push(0);
                let name = format!("worker {}", call.worker);
                self.events.push(
                    json!({"ph": "M", "name": "thread_name", "pid": process, "tid": track, "args": {"name": name}}),
                );
            }
            lanes[lane] = call.start_ns.saturating_add(call.latency_ns);
            let begin_ns = repetition.started_ns.saturating_add(call.start_ns);
            let args = json!({"file": clean(&call.file), "offset": call.offset, "bytes": call.bytes});
            self.events.push(json!({
                "ph": "X", "name": word(slow.op), "cat": "call", "pid": process, "tid": track,
                "ts": us(begin_ns), "dur": us(call.latency_ns), "args": args,
            }));
            for wait in &call.waits {
                let Some(stack) = slow.stacks.get(wait.stack as usize) else { continue };
                let names: Vec<String> = stack.frames.iter().map(|f| clean(f)).collect();
                let mut event = json!({
                    "ph": "X", "name": clean(&stack.waits_in), "cat": clean(&stack.layer), "pid": process, "tid": track,
                    "ts": us(begin_ns.saturating_add(wait.start_ns)), "dur": us(wait.ns),
                    "args": {"layer": clean(&stack.layer), "stack": names.join(" > ")},
                });
                if let Some(frame) = self.frame(stack) {
                    event["sf"] = json!(frame);
                }
                self.events.push(event);
            }
        }
    }

    /// The number of a stack's innermost frame.
    fn frame(&mut self, stack: &WaitStack) -> Option<usize> {
        let mut parent = None;
        for name in &stack.frames {
            let next = self.known.len() + 1;
            let number = *self.known.entry((parent, clean(name))).or_insert(next);
            if number == next {
                let mut frame = json!({"name": clean(name), "category": "kernel"});
                if let Some(parent) = parent {
                    frame["parent"] = json!(parent);
                }
                self.frames.insert(number.to_string(), frame);
            }
            parent = Some(number);
        }
        parent
    }
}

/// The format's unit.
fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn calls_contain_their_waits_and_do_not_overlap() {
        let mut run = sample();
        run.phases[1].repetitions[0].started_ns = 1_000_000_000;
        let trace: Value = serde_json::from_str(&perfetto(&[&run]).expect("calls")).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("events");
        let slices: Vec<(&str, u64, f64, f64)> = events
            .iter()
            .filter(|e| e["ph"] == "X")
            .map(|e| {
                let number = |key: &str| e[key].as_f64().expect("a number");
                (e["name"].as_str().expect("a name"), number("tid") as u64, number("ts"), number("dur"))
            })
            .collect();
        assert_eq!(
            slices,
            [
                ("fsync", 1, 1_001_000.0, 5000.0),
                ("folio_wait_bit", 1, 1_001_010.0, 20.0),
                ("jbd2_log_wait_commit", 1, 1_001_040.0, 4900.0),
                ("fsync", 2, 1_003_000.0, 5000.0),
                ("fsync", 1001, 1_003_000.0, 5000.0),
                ("fsync", 1, 1_006_000.0, 5000.0),
            ]
        );
        assert_eq!(events.iter().filter(|e| e["name"] == "thread_name").count(), 3);
        // The frame of the wait leads to the outermost function.
        let wait = events.iter().find(|e| e["name"] == "jbd2_log_wait_commit").expect("the wait");
        let mut names = Vec::new();
        let mut at = wait["sf"].as_u64();
        while let Some(number) = at {
            let frame = &trace["stackFrames"][number.to_string()];
            names.push(frame["name"].as_str().expect("a name"));
            at = frame["parent"].as_u64();
        }
        assert_eq!(names, ["jbd2_log_wait_commit", "ext4_sync_file", "do_fsync"]);
        assert_eq!(trace["stackFrames"].as_object().map(Map::len), Some(4), "the outermost function once");
        run.phases.truncate(1);
        assert_eq!(perfetto(&[&run]), None);
    }
}
