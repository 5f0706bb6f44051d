//! What limits the main figures of a survey, a line each.

use super::{NARROWEST, Paint, Style, TerminalPage, cut};
use crate::bottlenecks::Bottlenecks;
use crate::printable::clean;

/// Maximum number of causes shown.
const CAUSES: usize = 3;

/// The answer for a terminal of `width` columns; `after` are closing lines with the next commands.
#[must_use]
pub fn bottlenecks(found: &Bottlenecks, after: &[String], width: usize, colour: bool) -> String {
    let layout = width.max(NARROWEST);
    let mut page = TerminalPage { lines: Vec::new(), width, paint: Paint { on: colour } };
    page.line(Style::Dim, &cut(&clean(&found.place), layout));
    let causes: &[String] = match found.causes.as_slice() {
        [] if !found.device_known => &["Limits are not known, as the device is not.".to_owned()],
        [] => &["No limit was found in settings or control groups.".to_owned()],
        causes => causes,
    };
    for cause in causes.iter().take(CAUSES) {
        page.paragraph(Style::Bold, "", cause, layout);
    }
    if !found.figures.is_empty() {
        page.line(Style::Plain, "Where the time of one operation goes:");
    }
    let widest = |of: fn(&crate::bottlenecks::Bottleneck) -> &str| {
        found.figures.iter().map(|f| of(f).chars().count()).max().unwrap_or(0)
    };
    let (names, figures) = (widest(|f| &f.what), widest(|f| &f.figure));
    for figure in &found.figures {
        let time = if figure.time.is_empty() { "unknown" } else { &figure.time };
        let line = format!("  {:<names$}  {:>figures$}  {time}", figure.what, figure.figure);
        page.line(Style::Plain, &cut(&clean(&line), layout));
    }
    for line in after {
        page.paragraph(Style::Plain, "", line, layout);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bottlenecks::Bottleneck;

    #[test]
    fn every_figure_has_a_line() {
        let figure = |what: &str, figure: &str, time: &str| Bottleneck {
            what: what.into(),
            figure: figure.into(),
            time: time.into(),
            phase: what.into(),
            why: crate::why::Why::default(),
        };
        let mut found = Bottlenecks {
            run: "20261127T120000-abcdef".into(),
            place: "/srv/data, ext4 on vda, 252 GiB".into(),
            causes: Vec::new(),
            device_known: true,
            figures: vec![
                figure("fsync after a 4 KiB write", "3418/s", "vda at most 75 %, kernel 25 %"),
                figure("random read, 96 in flight", "90 595/s", "vda 57 %, queue or other waiting 43 %"),
                figure("cold read", "1.03 GiB/s", ""),
            ],
        };
        let after = ["More of one figure: fathom why last --phase NAME".to_owned()];
        insta::assert_snapshot!(bottlenecks(&found, &after, 80, false));
        found.causes = vec!["A control group holds reads of vda to 20 MiB/s.".into()];
        insta::assert_snapshot!(bottlenecks(&found, &after, 80, false));
    }
}
