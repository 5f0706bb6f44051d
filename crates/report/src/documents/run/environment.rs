//! The environment as a table: one row per leaf, named by its path. Values the kernel does not report are marked as such.

use super::RunView;
use crate::document::{Document, Link, Table, Target};
use crate::environment::leaves;
use crate::printable::clean;

pub(super) fn write(out: &mut Document, views: &[RunView<'_>]) {
    let all: Vec<_> = views.iter().map(|view| (view, leaves(&view.run.environment))).collect();
    let all: Vec<_> = all.into_iter().filter(|(_, rows)| !rows.is_empty()).collect();
    if all.is_empty() {
        return;
    }
    out.targets(all.iter().map(|(view, _)| Target::whole(Link::Environment, &view.run.id)).collect());
    out.heading(2, "Environment");
    for (view, rows) in all {
        let caption = format!("Environment of {}", clean(&view.story.title));
        let count = rows.len();
        let summary = match views.len() {
            1 => format!("All {count} values"),
            _ => format!("{caption} ({count} values)"),
        };
        let mut table = Table::new(caption, &["Name", "Value"]);
        rows.into_iter().for_each(|(name, value)| table.words([name, value]));
        out.details(summary, |out| out.table(table));
    }
}
