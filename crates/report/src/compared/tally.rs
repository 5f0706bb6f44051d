//! Summary of a comparison of many cells, in a line above its table: how many figures have which verdict.

use super::Compared;
use super::judge::{ComparedRow, Word};
use std::fmt::Write as _;

/// The line; `None` for so few cells that the table shows it.
pub(super) fn tally(compared: &Compared, few: usize) -> Option<String> {
    if compared.rows.iter().filter(|r| r.headline).count() <= few {
        return None;
    }
    let judged: Vec<&ComparedRow> = compared.rows.iter().filter(|r| !r.has_too_few()).collect();
    let of = |word: Word| judged.iter().filter(|r| r.verdict == word).count();
    let changed = [
        (Word::Worse, "worse"),
        (Word::Better, "better"),
        (Word::Differs, "different"),
        (Word::Suspect, "suspect"),
    ];
    let unchanged = [
        (Word::Same, "the same"),
        (Word::BelowThreshold, "changed by less than the threshold"),
        (Word::Inconclusive, "inconclusive"),
        (Word::Single, "of single runs"),
        (Word::Unusable, "without a comparison"),
    ];
    let counts: Vec<String> = changed
        .iter()
        .chain(&unchanged)
        .filter(|(word, _)| of(*word) > 0)
        .map(|(word, name)| format!("{} {name}", of(*word)))
        .collect();
    let mut line = format!("{} figures: ", judged.len());
    if of(Word::Single) == 0 && changed.iter().all(|(word, _)| of(*word) == 0) {
        line += "no difference was found; ";
    }
    let _ = write!(line, "{}.", counts.join(", "));
    if of(Word::Inconclusive) > 0 {
        line += " Inconclusive: runs of one side lie as far apart as the sides, or are too few to tell; it is no sign of a change.";
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SAME, SLOWER, compared, sides_of};
    use super::tally;

    #[test]
    fn many_cells_come_to_a_line() {
        let same = compared(&sides_of(&SAME, 14));
        let line = tally(&same, 12).expect("many");
        assert!(line.contains("no difference was found; "), "{line}");
        assert!(super::super::text(&same).contains(&line));
        let slower = tally(&compared(&sides_of(&SLOWER, 14)), 12).expect("many");
        assert!(!slower.contains("no difference"), "{slower}");
        assert_eq!(tally(&same, 14), None, "the table says it");
    }

    #[test]
    fn two_sides_of_few_repetitions_far_apart_are_not_called_different() {
        // As for two surveys on a busy machine: three times each.
        let quads = [("ABAB", [500.0, 250.0, 300.0, 600.0]), ("AB", [900.0, 200.0, 0.0, 0.0])];
        let line = tally(&compared(&sides_of(&quads, 14)), 12).expect("many");
        assert!(line.contains("no difference was found") && line.contains(" inconclusive"), "{line}");
    }
}
