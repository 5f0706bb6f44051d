//! The points of a history as CSV, one row each, for spreadsheets and other programs.

use super::History;
use std::io::{Result, Write};

/// Writes one row per point, with its segment and, at the start of a level, the ratio of the change.
pub fn csv(mut out: impl Write, history: &History) -> Result<()> {
    out.write_all(
        b"cell,figure,unit,run,label,started_at,value,segment,segment_median,segment_noise,outlier,change_ratio,change_low,change_high,change_p,change_doubtful\n",
    )?;
    for series in &history.series {
        for (i, point) in series.points.iter().enumerate() {
            let segment = &series.segments[point.segment];
            let change = series.changes.iter().find(|c| c.first_new == i);
            let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
            let row = [
                series.cell.clone(),
                series.metric.clone(),
                series.unit.clone(),
                point.run.id.clone(),
                point.run.label.clone(),
                point.run.started_at.clone(),
                point.value.to_string(),
                (point.segment + 1).to_string(),
                segment.median.to_string(),
                number(segment.noise),
                u8::from(point.outlier).to_string(),
                number(change.map(|c| c.ratio)),
                number(change.map(|c| c.low)),
                number(change.map(|c| c.high)),
                number(change.map(|c| c.p)),
                change.map_or(String::new(), |c| u8::from(c.doubtful).to_string()),
            ];
            writeln!(out, "{}", row.map(|field| quoted(&field)).join(","))?;
        }
    }
    Ok(())
}

/// Quotes a field as in RFC 4180. A text that a spreadsheet would read as a formula is prefixed with an apostrophe.
fn quoted(field: &str) -> String {
    let formula =
        field.starts_with(['=', '+', '@']) || field.starts_with('-') && field.parse::<f64>().is_err();
    let field = if formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_stay_fields() {
        assert_eq!(quoted("read, 4 KiB"), "\"read, 4 KiB\"");
        assert_eq!(
            (quoted("a\"b"), quoted("=1+1"), quoted("-3.5")),
            ("\"a\"\"b\"".into(), "'=1+1".into(), "-3.5".into())
        );
    }
}
