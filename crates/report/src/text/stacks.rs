//! The kernel stacks in which the slowest calls of a run waited, as text.

use super::block::line;
use crate::{
    printable::clean,
    section::full_title,
    stacks::{file, of_phase, which},
    units,
};
use fathom_record::{Phase, Run, SlowCalls, WaitStack};

/// Stacks listed of each kind of call before the rest is counted.
const MOST_STACKS: usize = 10;
/// Below this part of the time the rest is not worth a line.
const LEAST_REST: f64 = 0.01;

/// All of them; a sentence if there are none.
#[must_use]
pub fn long(run: &Run) -> String {
    let noted: Vec<&Phase> = run.phases.iter().filter(|p| !of_phase(p).is_empty()).collect();
    let mut text = String::new();
    if noted.is_empty() {
        let id = clean(if run.label.is_empty() { &run.id } else { &run.label });
        line(
            &mut text,
            "",
            &format!(
                "No phase of {id} holds kernel stacks: they are noted with --observe full, as root, of phases with at least 100 calls of a kind."
            ),
        );
    }
    for (n, phase) in noted.iter().enumerate() {
        if n > 0 {
            text.push('\n');
        }
        let title = clean(&full_title(phase));
        line(&mut text, "", &title);
        line(&mut text, "", &"=".repeat(title.chars().count().min(super::block::COLUMNS)));
        of_phase(phase).iter().for_each(|slow| one_kind(&mut text, slow));
    }
    text
}

fn one_kind(text: &mut String, slow: &SlowCalls) {
    line(text, "* ", &format!("Where {} waited, by share of their time:", which(slow)));
    for stack in slow.stacks.iter().take(MOST_STACKS) {
        let share = stack.total_ns as f64 / slow.total_ns.max(1) as f64;
        line(text, &format!("  {:>7} ", units::percent(share)), &about(stack, slow));
        let frames: Vec<String> = stack.frames.iter().rev().map(|f| clean(f)).collect();
        if !frames.is_empty() {
            line(text, "            ", &frames.join(" < "));
        }
    }
    if slow.stacks.len() > MOST_STACKS {
        let more = slow.stacks.len() - MOST_STACKS;
        line(
            text,
            "          ",
            &format!("... and {more} more: fathom report RUN -o FILE.folded has those that were kept"),
        );
    }
    if slow.rest() >= LEAST_REST {
        let rest = units::percent(slow.rest());
        line(text, &format!("  {rest:>7} "), "running, or in waits too short or too rare to be noted");
    }
}

fn about(stack: &WaitStack, slow: &SlowCalls) -> String {
    let longest = units::time_ns(stack.longest_ns as f64);
    format!(
        "{}: {}, {} of {} calls, longest {longest}, {}",
        clean(&stack.layer),
        clean(&stack.waits_in),
        units::count(stack.calls),
        units::count(slow.slowest),
        file(stack)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::sample;

    #[test]
    fn each_stack_has_its_share_and_the_rest_is_named() {
        let text = long(&sample());
        let from = text.find("* Where the slowest 400 of 40 000 fsyncs").expect("the fsyncs");
        assert_eq!(
            &text[from..],
            "* Where the slowest 400 of 40 000 fsyncs (4.00 ms or more) waited, by share of
  their time:
     70 % journal: jbd2_log_wait_commit, 3 of 400 calls, longest 700 ms,
          /data/a;b
            jbd2_log_wait_commit < ext4_sync_file < do_fsync
     13 % journal: jbd2_log_wait_commit, 3 of 400 calls, longest 130 ms, (other
          files)
            jbd2_log_wait_commit < ext4_sync_file < do_fsync
    4.5 % page cache: folio_wait_bit, 3 of 400 calls, longest 45.0 ms, /data/c
            folio_wait_bit < do_fsync
     12 % running, or in waits too short or too rare to be noted
"
        );
        assert!(text.contains("of the first 40 000 reads"), "{text}");
        let mut run = sample();
        run.phases.truncate(1);
        assert!(long(&run).contains("--observe full"));
    }

    #[test]
    fn more_stacks_are_counted() {
        let mut run = sample();
        let stacks = &mut run.phases[1].repetitions[0].slow_calls[1].stacks;
        *stacks = stacks.iter().cycle().take(14).cloned().collect();
        assert!(long(&run).contains("... and 4 more: fathom report RUN -o FILE.folded"));
    }
}
