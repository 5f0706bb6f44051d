//! Many cells of single runs, by operation: for two whole tables, a ratio per cell would be unreadable. The range and median
//! over an operation's cells are shown without any claim.

use super::{Compared, ComparedRow, Design, MOST_SINGLES};
use fathom_compare::Summary;
use fathom_compare::wording::short;

/// The ratios of one figure of one operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Singles {
    /// The operation: "random read, O_DIRECT".
    pub(crate) operation: String,
    pub(crate) metric: String,
    /// B over A for its cells.
    pub(crate) ratios: Summary,
}

/// All of them, in order of first appearance; `None` unless there are many cells of single runs.
pub(crate) fn singles(compared: &Compared) -> Option<Vec<Singles>> {
    if compared.design != Design::Single || compared.rows.len() <= MOST_SINGLES {
        return None;
    }
    let mut groups: Vec<(String, &str, Vec<f64>)> = Vec::new();
    for row in &compared.rows {
        let Some(ratio) = row.ratio() else { continue };
        let operation = operation(row);
        match groups.iter_mut().find(|g| g.0 == operation && g.1 == row.metric) {
            Some(group) => group.2.push(ratio),
            None => groups.push((operation, &row.metric, vec![ratio])),
        }
    }
    // Many tests of one cell each are not tables: each operation would represent a single cell.
    if groups.len() * 3 > compared.rows.len() {
        return None;
    }
    let of = |(operation, metric, ratios): (String, &str, Vec<f64>)| {
        Some(Singles { operation, metric: metric.to_owned(), ratios: Summary::of(&ratios)? })
    };
    Some(groups.into_iter().filter_map(of).collect())
}

/// What distinguishes operations besides sizes and streams: "all flowops, test randomread8k".
fn operation(row: &ComparedRow) -> String {
    let mut words = vec![row.operation.clone()];
    words.extend(row.direct.then(|| "O_DIRECT".to_owned()));
    words.extend(row.tags.get("test").map(|test| format!("test {test}")));
    words.join(", ")
}

impl Singles {
    /// "write: throughput: B/A of 144 cells is 0.0552 to 0.69, median 0.121 (one run each; not a verdict)."
    pub(crate) fn sentence(&self) -> String {
        let Summary { n, min, median, max, .. } = &self.ratios;
        format!(
            "{}: {}: B/A of {n} cells is {} to {}, median {} (one run each; not a verdict).",
            self.operation,
            self.metric,
            short(*min),
            short(*max),
            short(*median)
        )
    }
}
