//! Where the slowest calls waited in the kernel: a table for each phase in which that was noted.

use super::{
    HtmlPage,
    blocks::{Shown, run_name},
    table::{HtmlTable, heads},
};
use crate::{
    printable::clean,
    section::full_title,
    stacks::{file, of_phase, sentences, which},
    svg::escape,
    units,
};
use fathom_record::{Phase, SlowCalls};
use std::fmt::Write as _;

/// Rows of a table; the record has more.
const MOST_STACKS: usize = 20;

pub(super) fn write(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    for (view, section) in shown {
        let noted: Vec<&Phase> = section
            .phases
            .iter()
            .copied()
            .filter(|p| of_phase(p).iter().any(|s| !s.stacks.is_empty()))
            .collect();
        if noted.is_empty() {
            continue;
        }
        run_name(page, shown, view);
        for phase in noted {
            page.heading(
                level + 1,
                &format!("Where the slowest calls waited: {}", clean(&full_title(phase))),
            );
            for sentence in sentences(phase) {
                let _ = writeln!(page.body, "<p>{}</p>", escape(&sentence));
            }
            for slow in of_phase(phase).iter().filter(|s| !s.stacks.is_empty()) {
                page.body.push_str(&table(slow));
            }
        }
    }
}

fn table(slow: &SlowCalls) -> String {
    let head =
        heads(&["Layer", "Share of their time", "Calls", "Longest", "File", "Kernel stack, innermost first"]);
    let mut table = HtmlTable::new(&format!("Waits of {}", which(slow)), &head);
    for stack in slow.stacks.iter().take(MOST_STACKS) {
        let share = stack.total_ns as f64 / slow.total_ns.max(1) as f64;
        let frames: Vec<String> = stack.frames.iter().rev().map(|f| clean(f)).collect();
        table.row(
            &clean(&stack.layer),
            &[
                escape(&units::percent(share)),
                escape(&units::count(stack.calls)),
                escape(&units::time_ns(stack.longest_ns as f64)),
                format!("<div class=\"text\">{}</div>", escape(&file(stack))),
                format!("<div class=\"text\">{}</div>", escape(&frames.join(" < "))),
            ],
        );
    }
    table.finish()
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
