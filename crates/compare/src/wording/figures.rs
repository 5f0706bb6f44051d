//! Formatting of figures in sentences: percentages, p-values, and numbers of three digits.

/// A margin or threshold: "2 %", "2.5 %".
pub(super) fn percent(share: f64) -> String {
    format!("{} %", trimmed(format!("{:.1}", share.abs() * 100.0)))
}

/// A measured effect, always with one decimal: "2.7 %", "3.0 %".
pub(super) fn effect_percent(share: f64) -> String {
    format!("{:.1} %", share.abs() * 100.0)
}

/// "p = 0.037"; values that four decimals would print as zero are "p < 0.0001".
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_string() } else { format!("p = {}", trimmed(format!("{p:.4}"))) }
}

/// Three significant digits, no exponent: 9.23, 0.570, 79.4, 58217.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let decimals = |v: f64| (2 - v.abs().log10().floor() as i32).clamp(0, 12) as usize;
    // Rounding may carry into another digit: 9.999 becomes 10.0.
    let rounded: f64 = format!("{value:.*}", decimals(value)).parse().unwrap_or(value);
    format!("{value:.*}", decimals(rounded))
}

/// At most three significant digits, without trailing zeros: 8, 2.5, 0.57.
#[must_use]
pub fn short(value: f64) -> String {
    trimmed(significant(value))
}

fn trimmed(number: String) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_string() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_sentences() {
        assert_eq!([percent(0.02), percent(0.025), effect_percent(-0.03)], ["2 %", "2.5 %", "3.0 %"]);
        assert_eq!(
            [p_value(0.000257), p_value(0.037037), p_value(3.3e-8), p_value(1.0)],
            ["p = 0.0003", "p = 0.037", "p < 0.0001", "p = 1"]
        );
        let three = [9.232769, 0.569913, 79.39989, 9.999, 58_217.4, 0.001_234_5].map(significant);
        assert_eq!(three, ["9.23", "0.570", "79.4", "10.0", "58217", "0.00123"]);
        assert_eq!(
            [short(8.0), short(2.5), short(100.0), short(0.0), short(-0.5)],
            ["8", "2.5", "100", "0", "-0.5"]
        );
    }
}
