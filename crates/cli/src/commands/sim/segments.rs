//! The segments of write requests as a line of text: the effect of controller limits and kernel pages.

use fathom_report::units;
use fathom_sim::shapes::Shapes;

/// More distinct counts do not fit a line.
const MOST: usize = 8;

/// Empty if nothing was written.
pub fn line(shapes: &Shapes) -> String {
    let typical = shapes.typical();
    // Flushes have no sectors; with nothing else there is nothing to show.
    if typical.sectors == 0 {
        return String::new();
    }
    let of_data = || shapes.all().filter(|shape| shape.0 > 0);
    let requests: u64 = of_data().map(|(_, _, count)| count).sum();
    let segments: u64 = of_data().map(|(_, segments, count)| u64::from(segments) * count).sum();
    let mut shares = typical.segments;
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let more = if shares.len() > MOST { ", ..." } else { "" };
    shares.truncate(MOST);
    shares.sort_by_key(|share| share.0);
    let listed: Vec<String> =
        shares.iter().map(|(segments, share)| format!("{segments}: {}", units::percent(*share))).collect();
    format!(
        "\nwrites: {:.1} segments per request; most bytes in requests of {}, segments of these with their share of the bytes: {}{more}\n",
        segments as f64 / requests as f64,
        units::bytes(u64::from(typical.sectors) * 512),
        listed.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_written_is_no_line() {
        assert_eq!(line(&Shapes::default()), "");
    }
}
