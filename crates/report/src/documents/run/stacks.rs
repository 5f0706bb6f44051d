//! Where the slowest calls waited in the kernel: a table for each phase in which that was noted.

use super::Stage;
use crate::document::{Cell, Document, Table, Tone};
use crate::printable::clean;
use crate::section::full_title;
use crate::stacks::{file, of_phase, sentences, which};
use crate::units;
use fathom_record::{Phase, SlowCalls};

/// Rows of a table; the record has more.
const MOST_STACKS: usize = 20;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    for (view, section) in &stage.shown {
        let is_noted = |p: &&Phase| of_phase(p).iter().any(|s| !s.stacks.is_empty());
        let noted: Vec<&Phase> = section.phases.iter().copied().filter(is_noted).collect();
        if noted.is_empty() {
            continue;
        }
        for phase in noted {
            let heading = format!("Where the slowest calls waited: {}", clean(&full_title(phase)));
            out.heading(stage.level + 1, heading);
            stage.whose(out, view);
            sentences(phase).into_iter().for_each(|words| out.text(Tone::Plain, words));
            of_phase(phase).iter().for_each(|slow| out.table(table(slow)));
        }
    }
}

fn table(slow: &SlowCalls) -> Table {
    let heads = ["Layer", "Share of their time", "Calls", "Longest", "File", "Kernel stack, innermost first"];
    let mut table = Table::new(format!("Waits of {}", which(slow)), &heads);
    for stack in slow.stacks.iter().take(MOST_STACKS) {
        let share = stack.total_ns as f64 / slow.total_ns.max(1) as f64;
        let frames: Vec<String> = stack.frames.iter().rev().map(|f| clean(f)).collect();
        table.rows.push(vec![
            Cell::words(stack.layer.as_str()),
            Cell::figure(units::percent(share)),
            Cell::figure(units::count(stack.calls)),
            Cell::figure(units::time_ns(stack.longest_ns as f64)),
            Cell::words(file(stack)),
            Cell::words(frames.join(" < ")),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use crate::{html::page, stacks};

    #[test]
    fn stacks_have_a_table() {
        let html = page(&[&stacks::sample()]);
        for part in
            ["Where the slowest calls waited: ", "jbd2_log_wait_commit &lt; ext4_sync_file", "(other files)"]
        {
            assert!(html.contains(part), "{part} is missing");
        }
        assert!(!page(&[&crate::samples::observed_run()]).contains("slowest calls waited"));
    }
}
