//! Finds the known word nearest to an unknown one, for hints.

/// The candidate with the fewest edits (swapping neighbours counts as one), if it is close enough to be a typing error.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    // Up to a third of the letters wrong is a typing error; more is another word.
    let limit = (length / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= limit)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment: insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_their_word() {
        let words = ["filesetname", "iosize", "instances", "path"];
        assert_eq!(nearest("filsetname", words), Some("filesetname"));
        assert_eq!(nearest("ioszie", words), Some("iosize"));
        assert_eq!(nearest("IOSIZE", words), Some("iosize"));
        assert_eq!(nearest("colour", words), None);
        assert_eq!(nearest("", words), None);
    }

    #[test]
    fn a_long_word_is_not_compared_at_length() {
        assert_eq!(nearest(&"x".repeat(100_000), ["path"]), None);
    }
}
