//! The table of `lab --table`: kinds of devices, and which part of fathom works on each.

/// The line that the guest prints for a cell: this, then kind, part and how it ended, with bars between them.
const CELL: &str = "@@CELL ";

/// Rows in the order of the tests, each with its cells in the order in which they ran.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<(String, Vec<(String, String)>)>,
}

impl Table {
    /// Whether the line is a cell, which it adds.
    pub fn takes(&mut self, line: &str) -> bool {
        let Some(cell) = line.strip_prefix(CELL) else { return false };
        let mut parts = cell.splitn(3, '|').map(str::to_owned);
        let (Some(kind), Some(part), Some(ended)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        match self.rows.iter_mut().find(|(row, _)| *row == kind) {
            Some((_, cells)) => cells.push((part, ended)),
            None => self.rows.push((kind, vec![(part, ended)])),
        }
        true
    }

    /// Whether no cell failed.
    pub fn good(&self) -> bool {
        self.rows.iter().flat_map(|(_, cells)| cells).all(|(_, ended)| ended != "FAILED")
    }

    /// In Markdown; empty without cells.
    pub fn markdown(&self) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for (part, _) in self.rows.iter().flat_map(|(_, cells)| cells) {
            if !parts.contains(&part.as_str()) {
                parts.push(part);
            }
        }
        if parts.is_empty() {
            return String::new();
        }
        let mut text = format!("| | {} |\n|---|{}\n", parts.join(" | "), "---|".repeat(parts.len()));
        for (kind, cells) in &self.rows {
            let cell = |part: &&str| {
                cells.iter().find(|(name, _)| name == part).map_or("", |(_, ended)| ended.as_str())
            };
            let cells: Vec<&str> = parts.iter().map(cell).collect();
            text += &format!("| {kind} | {} |\n", cells.join(" | "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_make_a_table() {
        let mut table = Table::default();
        assert!(table.markdown().is_empty() && table.good());
        for line in ["@@CELL NVMe|counts|ok", "@@CELL md raid5|counts|ok", "@@CELL NVMe|sweep|no scheduler"] {
            assert!(table.takes(line));
        }
        assert!(!table.takes("@@ENDED nvme 0") && table.good());
        assert_eq!(
            table.markdown(),
            "| | counts | sweep |\n|---|---|---|\n| NVMe | ok | no scheduler |\n| md raid5 | ok |  |\n"
        );
        assert!(table.takes("@@CELL md raid5|sweep|FAILED") && !table.good());
    }
}
