//! Published figures beside simulated ones: one row each, with a ring at the published value, a square at the simulated one, a
//! line between them and the error at the end.

use super::{Anchor, Picture, chart::decimal_step, escape, line, shortened, text, text_width};
use crate::reproduced::{Pair, Pairs, error_percent};
use crate::units;
use std::fmt::Write as _;

const WIDTH: f64 = 620.0;
const TOP: f64 = 50.0;
const ROW: f64 = 22.0;
/// Space for one error: "+100.0 %".
const ERROR: f64 = 58.0;
/// Font size of labels on a narrow screen.
const NARROW: f64 = 12.0;
/// CSS classes of the marks of simulations.
const FILLS: [&str; 2] = ["fa", "fb"];

struct PairScale {
    left: f64,
    right: f64,
    end: f64,
}

impl PairScale {
    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * value / self.end
    }
}

/// The picture; `None` without rows or without a positive figure.
#[must_use]
pub fn paired(of: &Pairs) -> Option<Picture> {
    let highest =
        of.rows.iter().flat_map(|r| r.simulated.iter().chain([&r.published])).copied().fold(0.0, f64::max);
    if highest <= 0.0 || !highest.is_finite() {
        return None;
    }
    let widest = of.rows.iter().map(|r| text_width(&r.label, NARROW)).fold(0.0, f64::max);
    let step = decimal_step(highest, 1e-9);
    let steps = (highest / step).ceil();
    let scale = PairScale {
        left: (widest + 18.0).ceil(),
        right: WIDTH - 10.0 - ERROR * of.simulated.len().max(1) as f64,
        end: step * steps,
    };
    let bottom = TOP + of.rows.len() as f64 * ROW;
    let mut body = String::new();
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", &shortened(&of.title, 84));
    legend(&mut body, of, scale.left);
    for n in 0..=steps as u32 {
        let value = step * f64::from(n);
        let x = scale.x(value);
        line(&mut body, (x, TOP), (x, bottom), if n == 0 { "axis" } else { "" });
        let label = if value < 10.0 && step < 1.0 {
            format!("{value:.1}")
        } else {
            units::count(value.round() as u64)
        };
        text(&mut body, x, bottom + 15.0, Anchor::Middle, "v", &label);
    }
    for (n, name) in of.simulated.iter().enumerate().filter(|_| of.simulated.len() > 1) {
        let x = scale.right + ERROR * (n as f64 + 1.0);
        text(&mut body, x, TOP - 6.0, Anchor::End, "s", name);
    }
    for (n, pair) in of.rows.iter().enumerate() {
        row(&mut body, &scale, pair, TOP + (n as f64 + 0.5) * ROW, &of.simulated);
    }
    Some(Picture::new(&format!("paired {}", of.title), &of.title, words(of), WIDTH, bottom + 24.0, body))
}

fn legend(out: &mut String, of: &Pairs, left: f64) {
    let mut x = left;
    let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"34\" r=\"4.5\" class=\"hollow\"/>", x + 5.0);
    text(out, x + 15.0, 38.0, Anchor::Start, "v", "published");
    x += 34.0 + text_width("published", 10.0);
    for (name, fill) in of.simulated.iter().zip(FILLS) {
        square(out, (x + 5.0, 34.0), fill);
        text(out, x + 15.0, 38.0, Anchor::Start, "v", name);
        x += 34.0 + text_width(name, 10.0);
    }
}

fn square(out: &mut String, (x, y): (f64, f64), fill: &str) {
    // The second mark is rotated, so that it does not differ only by colour.
    let path = if fill == FILLS[0] {
        format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5)
    } else {
        format!("M{:.1} {y:.1}l5 -5l5 5l-5 5z", x - 5.0)
    };
    let _ = writeln!(out, "<path d=\"{path}\" class=\"{fill}\"/>");
}

fn row(out: &mut String, scale: &PairScale, pair: &Pair, y: f64, names: &[String]) {
    text(out, scale.left - 8.0, y + 3.6, Anchor::End, "v", &pair.label);
    let all = || pair.simulated.iter().chain([&pair.published]).map(|v| scale.x(*v));
    let (first, last) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
    let simulated: Vec<String> =
        pair.simulated.iter().zip(names).map(|(v, name)| format!("{name} {}", figure(*v))).collect();
    let _ = writeln!(
        out,
        "<g><title>{}</title>",
        escape(&format!("{}: published {}, {}", pair.label, figure(pair.published), simulated.join(", ")))
    );
    line(out, (first, y), (last, y), "span");
    let _ = writeln!(
        out,
        "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" class=\"hollow\"/>",
        scale.x(pair.published)
    );
    for (n, (value, fill)) in pair.simulated.iter().zip(FILLS).enumerate() {
        // Two simulations with equal results must both be visible.
        let off = if pair.simulated.len() > 1 { n as f64 * 6.0 - 3.0 } else { 0.0 };
        square(out, (scale.x(*value), y + off), fill);
        if let Some(error) = error_percent(pair.published, *value) {
            let x = scale.right + ERROR * (n as f64 + 1.0);
            text(out, x, y + 3.6, Anchor::End, "v", &format!("{error:+.1} %"));
        }
    }
    out.push_str("</g>\n");
}

/// A figure with as many digits as it needs.
fn figure(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn words(of: &Pairs) -> String {
    let of_each = of.simulated.iter().enumerate().filter_map(|(n, name)| {
        let errors: Vec<f64> = of
            .rows
            .iter()
            .filter_map(|r| error_percent(r.published, *r.simulated.get(n)?))
            .map(f64::abs)
            .collect();
        let worst = errors.iter().copied().reduce(f64::max)?;
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        Some(format!("{name}: off by {mean:.1} % on average and by {worst:.1} % at most"))
    });
    format!("{} figures. {}.", of.rows.len(), of_each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_both_figures_and_the_error() {
        let row = |label: &str, published, simulated| Pair { label: label.into(), published, simulated };
        let pairs = Pairs {
            title: "Seconds".into(),
            simulated: vec!["simulated".into()],
            rows: vec![row("deadline", 100.0, vec![105.0]), row("cfq <1>", 80.0, vec![72.0])],
        };
        let picture = paired(&pairs).expect("two rows");
        assert_eq!(
            picture.description,
            "2 figures. simulated: off by 7.5 % on average and by 10.0 % at most."
        );
        let drawn = picture.standalone();
        for words in ["+5.0 %", "-10.0 %", "cfq &lt;1&gt;: published 80.0, simulated 72.0"] {
            assert!(drawn.contains(words), "{words}: {drawn}");
        }
        assert_eq!(drawn.matches("class=\"hollow\"").count(), 3);
        assert_eq!(paired(&Pairs::default()), None);
    }
}
