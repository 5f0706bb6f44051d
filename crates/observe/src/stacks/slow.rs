//! Joins our own calls with the long sleeps of their threads: where the slowest hundredth of the calls waited.

use super::layers::layer;
use super::symbols::Symbols;
use super::{LongSleeps, Sleep};
use crate::join::Call;
use fathom_record::{OpKind, SlowCall, SlowCalls, Wait, WaitStack};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Fewer calls of a kind have no slowest hundredth.
const FEW_CALLS: usize = 100;
/// Maximum number of stacks and calls in a record.
const MOST_STACKS: usize = 50;
const MOST_EXAMPLES: usize = 100;
/// Maximum number of waits of a call in a record.
const MOST_WAITS: usize = 64;

/// What the calls' numbers mean.
pub struct Names<'a> {
    /// Thread of each worker.
    pub threads: &'a [u32],
    /// Files by index.
    pub files: &'a [String],
    /// The kernel's functions.
    pub symbols: &'a Symbols,
    /// Whether more calls followed than are noted.
    pub first_only: bool,
}

/// In place of a stack: what it slept for had come, but it had no processor.
const RUN_QUEUE: u32 = u32::MAX;

/// A distinct stack of a file: index of the file (`None`: several), and of the stack.
type Key = (Option<u32>, u32);

/// The slowest hundredth of the reads, writes and syncs. Calls may be in any order.
#[must_use]
pub fn slow_calls(calls: &[Call], sleeps: &LongSleeps, names: &Names<'_>) -> Vec<SlowCalls> {
    let first_ns = calls.iter().map(|c| c.start_ns).min().unwrap_or(0);
    let mut by_thread: HashMap<u32, Vec<&Sleep>> = HashMap::new();
    for sleep in &sleeps.sleeps {
        by_thread.entry(sleep.thread).or_default().push(sleep);
    }
    // A thread sleeps once at a time: sorted by start, they are sorted by end as well.
    by_thread.values_mut().for_each(|sleeps| sleeps.sort_by_key(|s| s.since_ns));
    let of_kind = |op| {
        let calls: Vec<&Call> = calls.iter().filter(|c| c.op == op).collect();
        of_one_kind(op, &calls, first_ns, (sleeps, &by_thread), names)
    };
    [OpKind::Read, OpKind::Write, OpKind::Sync].into_iter().filter_map(of_kind).collect()
}

fn of_one_kind(
    op: OpKind,
    calls: &[&Call],
    first_ns: u64,
    (all, by_thread): (&LongSleeps, &HashMap<u32, Vec<&Sleep>>),
    names: &Names<'_>,
) -> Option<SlowCalls> {
    if calls.len() < FEW_CALLS {
        return None;
    }
    let mut latencies: Vec<u64> = calls.iter().map(|c| c.latency_ns).collect();
    latencies.sort_unstable();
    let from_ns = latencies[latencies.len() - latencies.len() / 100];
    let mut slowest: Vec<&Call> = calls.iter().copied().filter(|c| c.latency_ns >= from_ns).collect();
    slowest.sort_by_key(|c| Reverse(c.latency_ns));
    // Many calls may take equally long.
    slowest.truncate(latencies.len() / 100);
    let waits: Vec<Vec<(u32, Wait)>> = slowest.iter().map(|call| waits_of(call, by_thread, names)).collect();
    let mut sums: HashMap<Key, WaitStack> = HashMap::new();
    for (call, waits) in slowest.iter().zip(&waits) {
        let mut met = HashSet::new();
        for (stack, wait) in waits {
            let sum = sums.entry((Some(call.file), *stack)).or_default();
            sum.waits += 1;
            sum.calls += u64::from(met.insert(*stack));
            sum.total_ns += wait.ns;
            sum.longest_ns = sum.longest_ns.max(wait.ns);
        }
    }
    let kept = bounded(sums);
    let place: HashMap<Key, u32> = kept.iter().zip(0..).map(|((key, _), at)| (*key, at)).collect();
    let mut examples: Vec<SlowCall> = slowest
        .iter()
        .zip(&waits)
        .take(MOST_EXAMPLES)
        .map(|(call, waits)| SlowCall {
            worker: call.worker,
            start_ns: call.start_ns - first_ns,
            latency_ns: call.latency_ns,
            file: names.file(call.file),
            offset: call.offset,
            bytes: call.bytes,
            waits: waits
                .iter()
                .filter_map(|(stack, wait)| {
                    let own = place.get(&(Some(call.file), *stack));
                    Some(Wait { stack: *own.or_else(|| place.get(&(None, *stack)))?, ..*wait })
                })
                .take(MOST_WAITS)
                .collect(),
        })
        .collect();
    examples.sort_by_key(|e| e.start_ns);
    Some(SlowCalls {
        op,
        calls: calls.len() as u64,
        first_only: names.first_only,
        slowest: slowest.len() as u64,
        from_ns,
        total_ns: slowest.iter().map(|c| c.latency_ns).sum(),
        stacks: kept.into_iter().map(|(key, sum)| names.named(key, sum, all)).collect(),
        examples,
    })
}

/// The sleeps of its thread during a call, as far as they lie in it.
fn waits_of(call: &Call, by_thread: &HashMap<u32, Vec<&Sleep>>, names: &Names<'_>) -> Vec<(u32, Wait)> {
    let thread = names.threads.get(call.worker as usize).filter(|thread| **thread != 0);
    let Some(sleeps) = thread.and_then(|thread| by_thread.get(thread)) else { return Vec::new() };
    let end_ns = call.end_ns();
    let from = sleeps.partition_point(|s| s.until_ns <= call.start_ns);
    let during = sleeps[from..].iter().take_while(|s| s.since_ns < end_ns);
    during
        .flat_map(|s| [(s.stack, s.since_ns, s.woken_ns), (RUN_QUEUE, s.woken_ns, s.until_ns)])
        .filter_map(|(stack, since_ns, until_ns)| {
            let since_ns = since_ns.max(call.start_ns);
            let ns = until_ns.min(end_ns).checked_sub(since_ns).filter(|&ns| ns > 0)?;
            Some((stack, Wait { stack: 0, start_ns: since_ns - call.start_ns, ns }))
        })
        .collect()
}

/// The stacks with most time. Of the others, the files of one stack are taken together; what is too many then is left out.
fn bounded(sums: HashMap<Key, WaitStack>) -> Vec<(Key, WaitStack)> {
    let in_order = |sums: HashMap<Key, WaitStack>| {
        let mut sums: Vec<(Key, WaitStack)> = sums.into_iter().collect();
        sums.sort_by_key(|(key, sum)| (Reverse(sum.total_ns), *key));
        sums
    };
    let mut kept = in_order(sums);
    let mut together: HashMap<Key, WaitStack> = HashMap::new();
    for ((_, stack), sum) in kept.drain(MOST_STACKS.min(kept.len())..) {
        let all = together.entry((None, stack)).or_default();
        all.waits += sum.waits;
        all.calls += sum.calls;
        all.total_ns += sum.total_ns;
        all.longest_ns = all.longest_ns.max(sum.longest_ns);
    }
    kept.extend(in_order(together).into_iter().take(MOST_STACKS));
    kept.sort_by_key(|(key, sum)| (Reverse(sum.total_ns), *key));
    kept
}

impl Names<'_> {
    fn file(&self, file: u32) -> String {
        self.files.get(file as usize).cloned().unwrap_or_default()
    }

    fn named(&self, (file, stack): Key, sum: WaitStack, all: &LongSleeps) -> WaitStack {
        if stack == RUN_QUEUE {
            let (layer, waits_in) = ("processor".into(), "the run queue".into());
            return WaitStack { file: file.map(|file| self.file(file)), layer, waits_in, ..sum };
        }
        let (addresses, locked) = &all.stacks[stack as usize];
        let frames: Vec<&str> = addresses.iter().filter_map(|a| self.symbols.name(*a)).collect();
        let (layer, waits_in) = layer(&frames, *locked);
        WaitStack {
            file: file.map(|file| self.file(file)),
            layer: layer.into(),
            waits_in: waits_in.into(),
            frames: frames.iter().rev().map(|f| (*f).into()).collect(),
            ..sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const MS: u64 = 1_000_000;

    /// Functions at 0x100, 0x200, 0x300 and 0x400; `stack` has them from the innermost on.
    fn symbols() -> Symbols {
        let text =
            "100 T ext4_sync_file\n200 T jbd2_log_wait_commit\n300 T folio_wait_bit\n400 T vfs_fsync_range\n";
        Symbols::read(&Fake::new().file("/proc/kallsyms", text)).expect("reads")
    }

    fn noted(sleeps: &[Sleep]) -> LongSleeps {
        let stacks = vec![
            (vec![0x210, 0x110, 0x410], false),
            (vec![0x310, 0x110, 0x410], false),
            (vec![0x110, 0x410], true),
        ];
        LongSleeps { sleeps: sleeps.to_vec(), stacks, ..LongSleeps::default() }
    }

    fn call(start_ns: u64, latency_ns: u64, worker: u32, file: u32) -> Call {
        Call { start_ns, latency_ns, op: OpKind::Sync, file, offset: 0, bytes: 0, worker }
    }

    fn sleep(thread: u32, since_ns: u64, until_ns: u64, stack: u32) -> Sleep {
        Sleep { thread, since_ns, woken_ns: until_ns, until_ns, stack }
    }

    fn joined(calls: &[Call], sleeps: &LongSleeps, files: usize) -> Vec<SlowCalls> {
        let files: Vec<String> = (0..files).map(|n| format!("/f{n}")).collect();
        let names = Names { threads: &[70, 80], files: &files, symbols: &symbols(), first_only: false };
        slow_calls(calls, sleeps, &names)
    }

    #[test]
    fn time_without_a_processor_is_no_wait_for_the_device() {
        let calls: Vec<Call> =
            (0..100).map(|i| call(i * 20 * MS, if i == 7 { 9 * MS } else { MS }, 0, 0)).collect();
        let woken_ns = 142 * MS;
        let sleeps = noted(&[Sleep { woken_ns, ..sleep(70, 141 * MS, 147 * MS, 0) }]);
        let slow = joined(&calls, &sleeps, 1);
        let stacks: Vec<_> =
            slow[0].stacks.iter().map(|s| (&*s.layer, &*s.waits_in, s.total_ns / MS)).collect();
        assert_eq!(stacks, [("processor", "the run queue", 5), ("journal", "jbd2_log_wait_commit", 1)]);
    }

    #[test]
    fn a_slow_call_has_the_sleeps_of_its_own_thread() {
        // 300 fsyncs of 1 ms each, alternately by two workers; three of worker 0 take 9 ms.
        let calls: Vec<Call> = (0..300)
            .map(|i| {
                call(
                    (1 + i * 10) * MS,
                    if [0, 100, 200].contains(&i) { 9 * MS } else { MS },
                    (i % 2) as u32,
                    0,
                )
            })
            .collect();
        let sleeps = noted(&[
            // Begins before the call and lasts into it; the other thread's; in the call; ends after it.
            sleep(70, 0, 2 * MS, 1),
            sleep(80, 3 * MS, 4 * MS, 0),
            sleep(70, 3 * MS, 8 * MS, 0),
            sleep(70, 9 * MS, 12 * MS, 2),
            // In a call that is none of the slowest.
            sleep(70, 21 * MS, 21 * MS + 1000, 1),
            sleep(70, 1001 * MS, 1007 * MS, 0),
        ]);
        let slow = joined(&calls, &sleeps, 1);
        let [slow] = slow.as_slice() else { panic!("one kind of call: {slow:?}") };
        assert_eq!((slow.calls, slow.slowest, slow.from_ns, slow.total_ns), (300, 3, 9 * MS, 27 * MS));
        let stacks: Vec<_> = slow
            .stacks
            .iter()
            .map(|s| (&*s.layer, &*s.waits_in, s.waits, s.calls, s.total_ns / MS))
            .collect();
        assert_eq!(
            stacks,
            [
                ("journal", "jbd2_log_wait_commit", 2, 2, 11),
                ("a page's I/O or lock", "folio_wait_bit", 1, 1, 1),
                ("lock", "ext4_sync_file", 1, 1, 1),
            ]
        );
        assert_eq!(slow.stacks[0].frames, ["vfs_fsync_range", "ext4_sync_file", "jbd2_log_wait_commit"]);
        assert_eq!((slow.stacks[0].file.as_deref(), slow.stacks[0].longest_ns), (Some("/f0"), 6 * MS));
        let first = &slow.examples[0];
        assert_eq!((first.start_ns, first.latency_ns, first.worker), (0, 9 * MS, 0));
        let waits: Vec<_> = first.waits.iter().map(|w| (w.stack, w.start_ns / MS, w.ns / MS)).collect();
        assert_eq!(waits, [(1, 0, 1), (0, 2, 5), (2, 8, 1)]);
        assert_eq!(slow.examples.len(), 3);
        assert!(slow.examples[2].waits.is_empty());
    }

    #[test]
    fn of_many_files_those_with_most_time_have_an_entry() {
        // 8000 fsyncs of as many files; the slowest 80 wait, each a little longer than the one before.
        let calls: Vec<Call> = (0..8000u64)
            .map(|i| call(i * 10 * MS, if i < 80 { MS + i } else { 1000 }, 0, i as u32))
            .collect();
        let sleeps: Vec<Sleep> =
            (0..80u64).map(|i| sleep(70, i * 10 * MS, i * 10 * MS + MS / 2 + i, (i % 2) as u32)).collect();
        let slow = joined(&calls, &noted(&sleeps), 8000);
        let stacks = &slow[0].stacks;
        assert_eq!(stacks.len(), MOST_STACKS + 2);
        let together: Vec<_> =
            stacks.iter().filter(|s| s.file.is_none()).map(|s| (s.waits, &*s.layer)).collect();
        assert_eq!(together, [(15, "a page's I/O or lock"), (15, "journal")]);
        assert_eq!(
            stacks.iter().map(|s| s.total_ns).sum::<u64>(),
            sleeps.iter().map(|s| s.until_ns - s.since_ns).sum::<u64>()
        );
        let of = |example: &SlowCall| stacks[example.waits[0].stack as usize].file.clone();
        assert_eq!(of(&slow[0].examples[0]), None, "the wait of a file without an entry");
        assert_eq!(of(&slow[0].examples[79]), Some("/f79".into()));
    }

    #[test]
    fn few_calls_have_no_slowest_hundredth() {
        let calls: Vec<Call> = (0..99).map(|i| call(i * MS, 1000, 0, 0)).collect();
        assert_eq!(joined(&calls, &noted(&[]), 1), []);
        let calls: Vec<Call> = (0..100).map(|i| call(i * MS, 1000 + i, 5, 0)).collect();
        let slow = joined(&calls, &noted(&[sleep(0, 0, 200 * MS, 0)]), 1);
        assert_eq!((slow[0].slowest, slow[0].stacks.len()), (1, 0), "its thread is not known");
    }
}
