//! Runs of many ranks: when each was working, phase by phase.

use super::{HtmlPage, RunView};
use crate::svg;

pub(super) fn write(page: &mut HtmlPage, views: &[RunView<'_>]) {
    for view in views {
        let pictures = svg::ranks(view.run);
        if pictures.is_empty() {
            continue;
        }
        let of = if views.len() > 1 {
            format!("Ranks x time: {}", view.story.title)
        } else {
            "Ranks x time".into()
        };
        page.heading(2, &of);
        for picture in &pictures {
            let caption = format!(
                "{}. One line per rank. The pale part is wear-out; another colour marks a rank that did not finish.",
                picture.description
            );
            page.wide_picture(picture, &caption);
        }
    }
}
