//! What a result is worth: each check with its verdict.

use super::RunView;
use crate::document::{Cell, Mood, Table};
use crate::{printable::clean, trust};
use fathom_record::Verdict;

/// The checks of a run; no rows if it has none.
pub(crate) fn table(view: &RunView<'_>) -> Table {
    let lines = trust::lines(view.run);
    let run = clean(if view.run.label.is_empty() { &view.run.id } else { &view.run.label });
    let caption = format!("What the result is worth, {run}: {}", trust::tally(&lines));
    let mut table = Table::new(caption, &["Check", "Verdict", "Found"]);
    for line in &lines {
        let verdict = Cell::words(format!("{} {}", line.mark(), line.verdict.word()));
        table.rows.push(vec![
            Cell::words(line.code.as_str()),
            verdict.strong_if(line.verdict == Verdict::Doubtful).meant(mood(line.verdict)),
            Cell::words(line.sentence.as_str()),
        ]);
    }
    table
}

fn mood(verdict: Verdict) -> Mood {
    match verdict {
        Verdict::Good => Mood::Good,
        Verdict::Doubtful => Mood::Doubtful,
        Verdict::Unknown => Mood::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_check_is_a_row_with_its_verdict_in_words() {
        let run = samples::engine_run();
        let table = table(&RunView::of(&run));
        assert_eq!(table.rows.len(), run.trust.len());
        let doubtful = table.rows.iter().filter(|row| row[1].mood == Mood::Doubtful);
        assert_eq!(doubtful.clone().count(), 4);
        assert!(doubtful.clone().all(|row| row[1].text.ends_with(" doubtful")));
        assert!(table.caption.contains("9 good, 4 doubtful"), "{}", table.caption);
        assert!(super::table(&RunView::of(&samples::auto_run())).rows.is_empty());
    }
}
