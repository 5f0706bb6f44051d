//! The meaning of columns in a table written by a person: different systems (a factor), or repeated measurements of one (replicates).
//! Headings only hint at it, and the user can specify it. The interpretation is always reported: four schedulers are four systems,
//! not four repeats, and no statistics can tell the difference.

/// What the columns of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// One system per column: a run with its own name.
    Systems,
    /// One system measured several times: runs with the same name.
    Repeats,
}

/// Words that, followed by a number, indicate repeats: "run1", "#2", "rep 3".
const REPEATS: [&str; 12] = [
    "run",
    "rep",
    "repeat",
    "repetition",
    "replicate",
    "trial",
    "pass",
    "try",
    "iteration",
    "iter",
    "sample",
    "#",
];

impl Columns {
    /// The meaning as specified, else as guessed from the headings; with a description.
    pub(super) fn of(heads: &[&str], given: Option<Self>) -> (Self, String) {
        let list = listed(heads);
        match (given, numbered(heads)) {
            (Some(Self::Systems), _) => (Self::Systems, format!("columns are systems, as told ({list})")),
            (Some(Self::Repeats), _) => {
                (Self::Repeats, format!("columns are repeats of one system, as told ({list})"))
            }
            (None, true) => {
                let words = format!(
                    "columns taken for repeats of one system by their heads ({list}); --columns systems if each is its own"
                );
                (Self::Repeats, words)
            }
            (None, false) => {
                let words = format!(
                    "columns taken for systems, one value a cell ({list}); --columns repeats if they are one system measured again"
                );
                (Self::Systems, words)
            }
        }
    }
}

/// Whether headings are equal, or a repetition word with numbers from 0 or 1.
fn numbered(heads: &[&str]) -> bool {
    if heads.len() < 2 {
        return false;
    }
    if heads.iter().all(|h| h.eq_ignore_ascii_case(heads[0])) {
        return true;
    }
    let parts = |head: &&str| -> Option<(String, usize)> {
        let digits = head.len() - head.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = head.split_at(head.len() - digits);
        let stem = stem.trim_end_matches(['-', '_', '.', ' ']).to_ascii_lowercase();
        Some((stem, number.parse().ok()?))
    };
    let Some(all) = heads.iter().map(parts).collect::<Option<Vec<_>>>() else { return false };
    let first = all[0].1;
    first <= 1
        && all.iter().enumerate().all(|(i, (stem, n))| *n == first + i && *stem == all[0].0)
        && REPEATS.contains(&all[0].0.as_str())
}

fn listed(heads: &[&str]) -> String {
    const MOST: usize = 6;
    let more = heads.len().saturating_sub(MOST);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", heads.iter().take(MOST).copied().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_hint_at_repeats() {
        let guess = |heads: &[&str]| Columns::of(heads, None).0;
        for repeats in
            [["run1", "run2"], ["Run-1", "Run-2"], ["#0", "#1"], ["rep 1", "rep 2"], ["MB/s", "MB/s"]]
        {
            assert_eq!(guess(&repeats), Columns::Repeats, "{repeats:?}");
        }
        for systems in [
            ["rc8", "rc8*"],
            ["rc1", "rc2"],
            ["2.6.5", "2.6.6"],
            ["run2", "run3"],
            ["run1", "pass2"],
            ["sda1", "sdb1"],
        ] {
            assert_eq!(guess(&systems), Columns::Systems, "{systems:?}");
        }
        assert_eq!(guess(&["run1"]), Columns::Systems);
    }

    #[test]
    fn who_imports_may_tell_and_is_told() {
        let (columns, words) = Columns::of(&["run1", "run2"], Some(Columns::Systems));
        assert_eq!(
            (columns, words.as_str()),
            (Columns::Systems, "columns are systems, as told (run1, run2)")
        );
        let (columns, words) = Columns::of(&["a", "b"], None);
        assert_eq!(columns, Columns::Systems);
        assert!(words.contains("(a, b)") && words.contains("--columns repeats"), "{words}");
        assert!(Columns::of(&["x"; 9], None).1.contains("and 3 more"));
    }
}
