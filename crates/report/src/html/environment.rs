//! The environment document as a table: one row per leaf, named by its path. Values the kernel does not report are marked as such.

use super::{
    HtmlPage, RunView,
    links::Link,
    table::{HtmlTable, folded, heads},
};
use crate::environment::leaves;
use crate::{printable::clean, svg::escape};

pub(super) fn write(page: &mut HtmlPage, views: &[RunView<'_>]) {
    if views.iter().all(|v| leaves(&v.run.environment).is_empty()) {
        return;
    }
    let id = page.heading(2, "Environment");
    for view in views.iter().filter(|v| !leaves(&v.run.environment).is_empty()) {
        page.links.whole(Link::Environment, &view.run.id, &id);
    }
    for view in views {
        let rows = leaves(&view.run.environment);
        if rows.is_empty() {
            continue;
        }
        let caption = format!("Environment of {}", clean(&view.story.title));
        let mut table = HtmlTable::new(&caption, &heads(&["Name", "Value"]));
        let count = rows.len();
        for (name, value) in rows {
            table.row(&name, &[format!("<span class=\"text\">{}</span>", escape(&value))]);
        }
        let summary = if views.len() > 1 {
            format!("{caption} ({count} values)")
        } else {
            format!("All {count} values")
        };
        page.body.push_str(&folded(&summary, &table.finish()));
    }
}
