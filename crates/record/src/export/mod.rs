//! A run as text for other programs: JSON (everything, lossless, also read back) and CSV (one observation per row; separate
//! tables for intervals, flow operations, figures of any kind, and block-layer activity). The formats are described in
//! docs/formats/record-json.md. Pages, spreadsheets and pictures are made in `report`, from the same types.

mod block;
mod csv;
mod figures;
mod json;
mod layout;
mod operations;
mod prometheus;
mod truth;

pub use block::{finding_csv, iostat_csv, request_csv, size_csv};
pub use csv::{csv, interval_csv};
pub use figures::figure_csv;
pub use json::{JSON_SCHEMA, JsonError, from_json, json};
pub use operations::operation_csv;
pub use prometheus::prometheus;

/// A cell; empty without a value.
fn maybe(value: Option<impl ToString>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    /// Compares with a golden file in `snapshots/`; `INSTA_UPDATE=always` rewrites it, as for the snapshots of the other crates.
    pub(super) fn assert_golden(name: &str, text: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/export/snapshots").join(name);
        if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
            std::fs::write(&path, text).expect("writes the golden file");
        }
        let golden = std::fs::read_to_string(&path).expect("the golden file is there");
        assert!(text == golden, "the format changed (docs/formats/record-json.md, versions): {text}");
    }
}
