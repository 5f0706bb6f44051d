//! A calibration as a document: the curve with the requests of both halves, its error, how long the device and its model took,
//! and the values written to the profile.

use crate::calibrated::Calibrated;
use crate::document::{Cell, Document, Table, Tone};
use crate::{svg, units};

/// The document.
#[must_use]
pub fn document(of: &Calibrated) -> Document {
    let lead = format!(
        "{} · a profile of kind {} from the first {} requests · {}",
        of.file,
        of.kind,
        units::count(of.fitted_requests),
        of.profile
    );
    let mut out = Document::new(format!("Calibration of {}", of.device), lead);
    match &of.judged {
        None => {
            let untested = "The second half of the trace has no request: nothing was held out, so this profile is untested.";
            out.text(Tone::Trouble, untested);
        }
        Some(j) => out.text(
            Tone::Note,
            format!(
                "Held out: {} requests of the second half, replayed on the fitted device. Mean response time {} in the trace, {} in the \
                 model; demerit {:.1} % of the mean.",
                units::count(j.device.count()),
                units::time_ns(j.device.mean_ns().unwrap_or(0.0)),
                units::time_ns(j.model.mean_ns().unwrap_or(0.0)),
                j.demerit_percent
            ),
        ),
    }
    out.heading(2, "What was fitted");
    for picture in [svg::fitted(of), svg::residuals(of)].into_iter().flatten() {
        let caption = picture.description.clone();
        out.picture(picture, caption, Vec::new());
    }
    let mut table = Table::new("Values of the profile", &["key", "value", "standard error", "from"]);
    for v in &of.values {
        let error = v.standard_error.map_or("-".into(), |e| format!("{e:.4}"));
        table.rows.push(vec![
            Cell::words(v.key.as_str()),
            Cell::figure(format!("{:.4}", v.value)).of(Some(v.value), ""),
            Cell::figure(error).of(v.standard_error, ""),
            Cell::words(v.from.as_str()),
        ]);
    }
    out.table(table);
    if let Some(picture) = of.judged.as_ref().and_then(svg::response_times) {
        out.heading(2, "How it was judged");
        let caption = picture.description.clone();
        out.picture(picture, caption, Vec::new());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrated::samples::disk;
    use crate::html;

    #[test]
    fn the_page_has_both_halves_and_user_words_stay_words() {
        let html = html::document(&document(&disk()));
        for words in [
            "Calibration of sda &lt;1&gt;",
            "held-out half",
            "Residuals",
            "demerit 6.2 % of the mean",
            "mechanics.average_ms",
        ] {
            assert!(html.contains(words), "{words}");
        }
        assert_eq!(html.matches("role=\"img\"").count(), 3);
        for forbidden in ["http://", "https://", "src=", "<1>"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn what_nothing_judges_says_so() {
        let html = html::document(&document(&Calibrated { judged: None, ..disk() }));
        assert!(html.contains("nothing was held out") && html.matches("role=\"img\"").count() == 2);
    }
}
