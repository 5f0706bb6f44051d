//! Values with units in running text: "4474 ops 14.8 ops/s, 15/0 r/w 0.0mb/s", with or without a blank in between.

use super::lines::leading;

/// A value and the text after it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair<'t> {
    pub(super) value: f64,
    /// The second number of "15/0".
    pub(super) second: Option<f64>,
    /// The value as printed.
    pub(super) word: &'t str,
    /// The word after it: "ops/s"; two words for units like "us cpu/op".
    pub(super) unit: &'t str,
}

impl Pair<'_> {
    /// Value and unit as printed.
    pub(super) fn printed(&self) -> String {
        format!("{} {}", self.word, self.unit).trim_end().to_string()
    }
}

/// All pairs in a text. Brackets, commas and dashes in between are skipped.
pub(super) fn pairs(text: &str) -> Vec<Pair<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.trim_start_matches(|c: char| !(c.is_ascii_digit() || c == '.'));
        let Some((value, _, behind)) = leading(start) else {
            // Skip digits and points that are not a number ("1.2.3").
            let skip =
                start.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(start.len());
            if skip == 0 {
                return found;
            }
            rest = &start[skip..];
            continue;
        };
        let second = behind.strip_prefix('/').and_then(leading);
        let behind = second.map_or(behind, |(_, _, b)| b);
        let word = &start[..start.len() - behind.len()];
        let unit = unit(behind);
        found.push(Pair { value, second: second.map(|s| s.0), word, unit });
        let used = behind.find(unit).map_or(0, |at| at + unit.len());
        rest = &behind[used..];
    }
}

/// A unit of one word, or of two if the second is part of it.
fn unit(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t']);
    let word = |c: char| c.is_alphabetic() || "/%_-".contains(c);
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    let one = text[..end].trim_end_matches('-');
    let two = ["cpu/op", "latency"]
        .into_iter()
        .find(|w| text[end..].strip_prefix(' ').is_some_and(|t| t.starts_with(w)));
    two.map_or(one, |w| &text[..end + 1 + w.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_units_of_a_summary() {
        let of = |text| -> Vec<(f64, Option<f64>, String)> {
            pairs(text).iter().map(|p| (p.value, p.second, p.unit.to_string())).collect()
        };
        assert_eq!(
            of("  4474 ops     14.8 ops/s,       15/0 r/w     0.0mb/s,      624uscpu/op"),
            [
                (4474.0, None, "ops".into()),
                (14.8, None, "ops/s".into()),
                (15.0, Some(0.0), "r/w".into()),
                (0.0, None, "mb/s".into()),
                (624.0, None, "uscpu/op".into()),
            ]
        );
        assert_eq!(
            of("(109/10 r/w), 624us cpu/op, 5.1ms latency")[1..],
            [(624.0, None, "us cpu/op".into()), (5.1, None, "ms latency".into())]
        );
        assert_eq!(of("[0.000ms - 103.825ms]"), [(0.0, None, "ms".into()), (103.825, None, "ms".into())]);
        assert_eq!(pairs("15/0 r/w")[0].printed(), "15/0 r/w");
        assert_eq!(of("1.2.3 x"), []);
    }
}
