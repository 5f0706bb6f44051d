//! What `fathom sim agree` found, added up and set as a table: a row a load, and one for all of a scheduler with its verdict. Pure: text
//! and verdicts out of counts.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Counts of a scheduler beside the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub issued: u64,
    pub same: u64,
    pub contested: u64,
    pub contested_same: u64,
    pub kernel_merges: u64,
    pub model_merges: u64,
    pub merges_differ: u64,
    pub not_followed: u64,
    /// Events the recorder lost.
    pub lost: u64,
    /// Of the choices where several waited, those that the best other scheduler would have made: what agreement is worth under this load.
    pub other_same: u64,
}

impl Tally {
    /// Of what `fathom sim agree --json` printed, with all schedulers asked: the row of this one.
    pub fn of(printed: &Value, model: &str) -> Result<Self> {
        let rows = printed["rows"].as_array().context("no rows in what `fathom sim agree` printed")?;
        let row = rows.iter().find(|r| r["scheduler"] == model).context("the scheduler has no row")?;
        let count = |row: &Value, key: &str| {
            row[key].as_u64().with_context(|| format!("{key} is not in a row of `fathom sim agree`"))
        };
        let others = rows.iter().filter(|r| r["scheduler"] != model);
        let others = others.map(|r| count(r, "contested_same")).collect::<Result<Vec<u64>>>()?;
        Ok(Self {
            issued: count(row, "issued")?,
            same: count(row, "same")?,
            contested: count(row, "contested")?,
            contested_same: count(row, "contested_same")?,
            kernel_merges: count(row, "kernel_merges")?,
            model_merges: count(row, "model_merges")?,
            merges_differ: count(row, "merges_differ")?,
            not_followed: count(row, "not_followed")?,
            lost: 0,
            other_same: others.into_iter().max().unwrap_or(0),
        })
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            issued: self.issued + other.issued,
            same: self.same + other.same,
            contested: self.contested + other.contested,
            contested_same: self.contested_same + other.contested_same,
            kernel_merges: self.kernel_merges + other.kernel_merges,
            model_merges: self.model_merges + other.model_merges,
            merges_differ: self.merges_differ + other.merges_differ,
            not_followed: self.not_followed + other.not_followed,
            lost: self.lost + other.lost,
            other_same: self.other_same + other.other_same,
        }
    }

    /// Whether all merges and at least this percentage of the choices match the kernel's.
    pub fn keeps(&self, at_least_percent: f64) -> bool {
        self.issued > 0
            && self.merges_differ == 0
            && self.same as f64 * 100.0 >= at_least_percent * self.issued as f64
    }

    fn cells(&self) -> String {
        format!(
            "{} | {} / {} | {} | {} | {} | {}",
            self.issued,
            self.kernel_merges,
            self.model_merges,
            self.merges_differ,
            share(self.same, self.issued),
            share(self.contested_same, self.contested),
            share(self.other_same, self.contested),
        )
    }

    pub fn json(&self) -> Value {
        json!({
            "issued": self.issued, "same": self.same, "contested": self.contested, "contested_same": self.contested_same,
            "kernel_merges": self.kernel_merges, "model_merges": self.model_merges, "merges_differ": self.merges_differ,
            "not_followed": self.not_followed, "lost": self.lost, "other_contested_same": self.other_same,
        })
    }
}

/// "99.1 % (450 of 454)"; a dash of nothing.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    format!("{:.1} % ({part} of {whole})", part as f64 * 100.0 / whole as f64)
}

pub const HEAD: &str = "\
| scheduler, load | issued | merges kernel / model | bios that differ | same choice | where several waited | another scheduler there, at most |
|---|---|---|---|---|---|---|";

/// A row of the table.
pub fn row(name: &str, tally: &Tally) -> String {
    format!("| {name} | {} |", tally.cells())
}

/// The row of all loads of a scheduler, and whether its bound is kept.
pub fn total(scheduler: &str, tally: &Tally, at_least_percent: f64) -> String {
    let word = if tally.keeps(at_least_percent) { "kept" } else { "MISSED" };
    format!(
        "{}\n| | | must not differ | 0 | >= {at_least_percent} % | | {word} |",
        row(&format!("**{scheduler}, all**"), tally)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed() -> Value {
        let row = |scheduler: &str, same: u64, contested_same: u64, differ: u64| {
            json!({"scheduler": scheduler, "issued": 100, "same": same, "contested": 50, "contested_same": contested_same,
                   "kernel_merges": 30, "model_merges": 30 + differ, "merges_differ": differ, "not_followed": 0})
        };
        json!({"rows": [row("none", 60, 10, 0), row("kyber", 98, 48, 0), row("bfq-lite", 70, 20, 1)]})
    }

    #[test]
    fn a_scheduler_stands_beside_the_best_of_the_others() {
        let tally = Tally::of(&printed(), "kyber").unwrap();
        assert_eq!((tally.same, tally.contested_same, tally.other_same), (98, 48, 20));
        assert!(tally.keeps(98.0) && !tally.keeps(98.1));
        let twice = tally.plus(tally);
        assert_eq!(
            row("kyber", &twice),
            "| kyber | 200 | 60 / 60 | 0 | 98.0 % (196 of 200) | 96.0 % (96 of 100) | 40.0 % (40 of 100) |"
        );
        assert!(Tally::of(&printed(), "cfq").is_err() && Tally::of(&json!({}), "kyber").is_err());
    }

    #[test]
    fn one_merge_that_differs_is_a_miss() {
        let tally = Tally::of(&printed(), "bfq-lite").unwrap();
        assert!(!tally.keeps(0.0));
        assert!(total("bfq", &tally, 0.0).ends_with("MISSED |"));
        assert!(!Tally::default().keeps(0.0), "nothing was seen");
    }
}
