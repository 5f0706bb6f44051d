//! A series of figures as a line of bars in plain text, for a terminal, a table cell or an issue. Bars start at zero, so their
//! heights are in proportion.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One bar per figure; empty if none is above zero.
#[must_use]
pub fn bars(figures: &[f64]) -> String {
    below(figures, highest(figures))
}

fn highest(figures: &[f64]) -> f64 {
    figures.iter().copied().filter(|f| f.is_finite()).fold(0.0, f64::max)
}

fn below(figures: &[f64], highest: f64) -> String {
    if highest <= 0.0 {
        return String::new();
    }
    let place = |f: f64| (f / highest * (BARS.len() - 1) as f64).round().clamp(0.0, 7.0) as usize;
    figures.iter().map(|&f| BARS[if f.is_finite() { place(f) } else { 0 }]).collect()
}

/// The same in at most `most` bars, each the mean of its figures; a full bar is the maximum of all figures.
#[must_use]
pub fn bars_in(figures: &[f64], most: usize) -> String {
    let every = figures.len().div_ceil(most.max(1)).max(1);
    let means: Vec<f64> = figures.chunks(every).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
    below(&means, highest(figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_zero() {
        assert_eq!(bars(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(bars(&[]), "");
        assert_eq!(bars(&[0.0, f64::NAN]), "");
        assert_eq!(bars(&[f64::NAN, -1.0, 1.0, f64::INFINITY]), "▁▁█▁");
        assert_eq!(bars_in(&[0.0, 100.0, 100.0, 100.0], 2), "▅█");
        assert_eq!(bars_in(&[1.0], 0), "█");
    }
}
