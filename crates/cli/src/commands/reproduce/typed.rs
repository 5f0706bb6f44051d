//! For tests: compares the figures quoted in sentences with the simulated ones, so that an outdated sentence fails a
//! test.

/// Asserts that the text after `before`, which occurs once, is `found` rounded to the same number of digits.
pub(super) fn assert_said(sentences: &[&str], before: &str, found: f64) {
    let all = sentences.join(" ");
    let mut places = all.match_indices(before);
    let (at, _) = places.next().unwrap_or_else(|| panic!("{before:?} is in no sentence"));
    assert!(places.next().is_none(), "{before:?} is there twice");
    let behind = &all[at + before.len()..];
    let end = behind.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(behind.len());
    let figure = behind[..end].trim_end_matches('.');
    let value: f64 = figure.parse().unwrap_or_else(|_| panic!("{before:?} is followed by {behind:?}"));
    let half = 0.5 / 10f64.powi(figure.split_once('.').map_or(0, |(_, places)| places.len() as i32));
    assert!((found - value).abs() <= half * 1.000_001, "{before}{figure}: it is {found}");
}

#[test]
fn a_figure_is_held_to_its_last_place() {
    let sentences = ["with 32 KiB 7.4, with 128 KiB 12.1 MB/s", "the end is 24."];
    assert_said(&sentences, "with 32 KiB ", 7.4499);
    assert_said(&sentences, "the end is ", 23.51);
    for (before, found) in
        [("with 128 KiB ", 12.04), ("the end is ", 24.6), ("with ", 32.0), ("nowhere ", 1.0)]
    {
        let held = std::panic::catch_unwind(|| assert_said(&sentences, before, found));
        assert!(held.is_err(), "{before}{found}");
    }
}
