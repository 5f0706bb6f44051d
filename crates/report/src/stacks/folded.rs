//! Folded stacks: a line for each stack, its parts separated by semicolons, then its time in ns. Flame graph programs read them.

use super::{file, word};
use crate::{printable::clean, section::full_title};
use fathom_record::Run;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The stacks of all repetitions as `phase;kind file;layer;function;function NS`, the outermost function first; `None` if there is no
/// stack.
#[must_use]
pub fn folded(runs: &[&Run]) -> Option<String> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for run in runs {
        for phase in &run.phases {
            for slow in phase.repetitions.iter().flat_map(|r| &r.slow_calls) {
                for stack in &slow.stacks {
                    let mut parts = vec![
                        full_title(phase),
                        format!("{} {}", word(slow.op), file(stack)),
                        stack.layer.clone(),
                    ];
                    parts.extend(stack.frames.iter().cloned());
                    if stack.frames.is_empty() {
                        parts.push(stack.waits_in.clone());
                    }
                    if runs.len() > 1 {
                        parts.insert(0, run.id.clone());
                    }
                    let line: Vec<String> = parts.iter().map(|part| clean(part).replace(';', ",")).collect();
                    let sum = sums.entry(line.join(";")).or_default();
                    *sum = sum.saturating_add(stack.total_ns);
                }
            }
        }
    }
    (!sums.is_empty()).then(|| {
        sums.iter().fold(String::new(), |mut text, (stack, ns)| {
            let _ = writeln!(text, "{stack} {ns}");
            text
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_stack_is_a_line_and_repetitions_add_up() {
        let mut run = sample();
        let again = run.phases[1].repetitions[0].clone();
        run.phases[1].repetitions.push(again);
        let text = folded(&[&run]).expect("stacks");
        let title = full_title(&run.phases[1]);
        let expected = [
            format!(
                "{title};fsync (other files);journal;do_fsync;ext4_sync_file;jbd2_log_wait_commit 520000000"
            ),
            format!(
                "{title};fsync /data/a,b;journal;do_fsync;ext4_sync_file;jbd2_log_wait_commit 2800000000"
            ),
            format!("{title};fsync /data/c;page cache;do_fsync;folio_wait_bit 180000000"),
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        let two = folded(&[&run, &run]).expect("stacks");
        assert!(two.starts_with(&format!("{};{title};fsync (", run.id)), "{two}");
        run.phases.truncate(1);
        assert_eq!(folded(&[&run]), None);
    }
}
