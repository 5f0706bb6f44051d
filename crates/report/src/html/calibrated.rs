//! The page of a calibration: the curve with the requests of both halves, its error, how long the device and its model took,
//! and the values written to the profile.

use super::{
    HtmlPage,
    table::{HtmlTable, heads},
};
use crate::calibrated::Calibrated;
use crate::svg::{self, escape};
use crate::units;
use std::fmt::Write as _;

/// A calibration as one HTML file.
#[must_use]
pub fn page(of: &Calibrated) -> String {
    let mut page = HtmlPage::default();
    let judged = match &of.judged {
        None => {
            "The second half of the trace has no request: nothing was held out, so this profile is untested."
                .to_string()
        }
        Some(j) => format!(
            "Held out: {} requests of the second half, replayed on the fitted device. Mean response time {} in the trace, {} in the \
             model; demerit {:.1} % of the mean.",
            units::count(j.device.count()),
            units::time_ns(j.device.mean_ns().unwrap_or(0.0)),
            units::time_ns(j.model.mean_ns().unwrap_or(0.0)),
            j.demerit_percent
        ),
    };
    let class = if of.judged.is_some() { "note" } else { "trouble" };
    let _ = writeln!(page.body, "<p class=\"{class}\">{}</p>", escape(&judged));
    page.heading(2, "What was fitted");
    let pictures = [svg::fitted(of), svg::residuals(of)];
    pair(&mut page, pictures.into_iter().flatten());
    let mut table =
        HtmlTable::new("Values of the profile", &heads(&["key", "value", "standard error", "from"]));
    for v in &of.values {
        let error = v.standard_error.map_or("-".into(), |e| format!("{e:.4}"));
        table.row(
            &v.key,
            &[format!("{:.4}", v.value), error, format!("<span class=\"text\">{}</span>", escape(&v.from))],
        );
    }
    page.body.push_str(&table.finish());
    if let Some(picture) = of.judged.as_ref().and_then(svg::response_times) {
        page.heading(2, "How it was judged");
        pair(&mut page, std::iter::once(picture));
    }
    let lead = format!(
        "{} · a profile of kind {} from the first {} requests · {}",
        of.file,
        of.kind,
        units::count(of.fitted_requests),
        of.profile
    );
    page.close(&format!("Calibration of {}", of.device), &lead)
}

/// Figures side by side, each with its caption.
fn pair(page: &mut HtmlPage, pictures: impl Iterator<Item = svg::Picture>) {
    page.body.push_str("<div class=\"pair\">\n");
    for picture in pictures {
        page.picture(&picture, &picture.description);
    }
    page.body.push_str("</div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrated::samples::disk;

    #[test]
    fn the_page_has_both_halves_and_user_words_stay_words() {
        let html = page(&disk());
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
        let html = page(&Calibrated { judged: None, ..disk() });
        assert!(html.contains("nothing was held out") && html.matches("role=\"img\"").count() == 2);
    }
}
