//! The page's trust list: a table whose verdicts are words with a mark; colour only repeats them.

use super::table::{HtmlTable, heads};
use crate::{printable::clean, svg::escape, trust};
use fathom_record::{Run, Verdict};

/// The table; empty for a run without the list.
pub(super) fn table(run: &Run) -> String {
    let lines = trust::lines(run);
    if lines.is_empty() {
        return String::new();
    }
    let caption = format!(
        "What the result is worth, {}: {}",
        clean(if run.label.is_empty() { &run.id } else { &run.label }),
        trust::tally(&lines)
    );
    let mut table = HtmlTable::new(&caption, &heads(&["Check", "Verdict", "Found"]));
    for line in &lines {
        let verdict = format!(
            "<span class=\"verdict {}\"><span aria-hidden=\"true\">{}</span> {}</span>",
            class(line.verdict),
            line.mark(),
            line.verdict.word()
        );
        let found = format!("<span class=\"text\">{}</span>", escape(&line.sentence));
        table.row(&line.code, &[verdict, found]);
    }
    format!("<div class=\"trust\">{}</div>\n", table.finish())
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "v-good",
        Verdict::Doubtful => "v-doubtful",
        Verdict::Unknown => "v-unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_check_is_a_row_with_its_verdict_in_words() {
        let run = samples::engine_run();
        let html = table(&run);
        assert_eq!(html.matches("scope=\"row\"").count(), run.trust.len());
        assert_eq!(html.matches("v-doubtful").count(), 4);
        assert!(html.contains("</span> doubtful</span>") && html.contains("9 good, 4 doubtful"), "{html}");
        assert!(table(&samples::auto_run()).is_empty());
    }

    #[test]
    fn what_a_sentence_holds_stays_text() {
        let mut run = samples::engine_run();
        run.trust[0].sentence = "<b>bold</b> & co".into();
        assert!(table(&run).contains("&lt;b&gt;bold&lt;/b&gt; &amp; co"));
    }
}
