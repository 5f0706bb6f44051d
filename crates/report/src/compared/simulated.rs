//! Comparisons with a simulated side. A simulation gives the same numbers each time, so tests and intervals, which describe the
//! variation of runs, do not apply: what matters is how far the model is from a device. So no row has a p, an interval or a verdict; it
//! shows the ratio beside the model's error, "cannot tell" if the change is below the error, and a gate cannot be decided by it.

use super::judge::{ComparedRow, Method, Word};
use super::{Family, Notice, Side};
use fathom_record::{Run, Uncertainty};

/// How far the sides' models are from devices.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Error {
    /// In percent, as far as a demerit figure or held-out traces say.
    Percent(f64),
    /// One of the models was never compared with a device.
    Unknown,
    /// One of the models was compared with a device, but on other requests.
    NotForThis,
}

/// Withdraws the run statistics if a side has a simulated run. Returns what each side is based on.
pub(super) fn withhold(
    rows: &mut [ComparedRow],
    families: &mut Vec<Family>,
    a: &Side<'_>,
    b: &Side<'_>,
) -> Vec<Notice> {
    let Some(error) = error(a, b) else { return Vec::new() };
    families.clear();
    rows.iter_mut().filter(|row| row.effect.is_some()).for_each(|row| tell(row, error));
    [("A", a), ("B", b)].into_iter().flat_map(|(letter, side)| bases(letter, side)).collect()
}

/// The largest error of the simulated runs; `None` if there are none.
fn error(a: &Side<'_>, b: &Side<'_>) -> Option<Error> {
    let simulated = a.runs.iter().chain(&b.runs).filter_map(|run| rests_on(run));
    let of = |r: &Uncertainty| match r.percent() {
        Some(percent) => Error::Percent(percent),
        None if r.instead.is_empty() => Error::Unknown,
        None => Error::NotForThis,
    };
    simulated.map(of).reduce(|x, y| match (x, y) {
        (Error::Percent(x), Error::Percent(y)) => Error::Percent(x.max(y)),
        (Error::Unknown, _) | (_, Error::Unknown) => Error::Unknown,
        _ => Error::NotForThis,
    })
}

fn rests_on(run: &Run) -> Option<&Uncertainty> {
    run.simulation.as_ref().map(|s| &s.rests_on)
}

fn tell(row: &mut ComparedRow, error: Error) {
    (row.p, row.exact, row.cv, row.adjusted_p) = (None, false, None, None);
    (row.method, row.verdict) = (Method::Single, Word::Inconclusive);
    if let Some(effect) = &mut row.effect {
        (effect.low, effect.high, effect.confidence) = (None, None, None);
    }
    let Some(ratio) = row.ratio() else {
        row.sentence = "A model's figure is among these and one of them is zero: there is no ratio.".into();
        return;
    };
    let off = (ratio - 1.0).abs() * 100.0;
    row.sentence = match error {
        Error::Percent(percent) if off < percent => format!(
            "Cannot tell: B over A is {ratio:.4} in the model, {off:.1} % off 1, within the model's error bar of {percent:.1} %."
        ),
        Error::Percent(percent) => {
            format!("B over A is {ratio:.4} in the model, whose error bar is {percent:.1} %.")
        }
        Error::NotForThis => format!(
            "B over A is {ratio:.4} in the model, which is not calibrated for these requests: its error is unknown."
        ),
        Error::Unknown => format!(
            "B over A is {ratio:.4} in the model; no demerit known: this model was not compared with a device."
        ),
    };
}

/// What a side's runs are based on; equal bases are listed once.
fn bases(letter: &str, side: &Side<'_>) -> Vec<Notice> {
    let mut sentences: Vec<String> = Vec::new();
    for run in side.runs.iter().filter_map(|run| rests_on(run)) {
        let sentence = format!("{letter}: {}", run.sentence());
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences.into_iter().map(|sentence| Notice { code: "model", cell: None, sentence }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::sides_of;
    use super::super::{CompareOptions, Compared, Gate, Outcome, Side};
    use super::*;
    use fathom_record::Simulation;

    /// A pattern that is clearly slower if measured, with models of these demerits.
    fn compared(demerits: [Option<Option<f64>>; 2]) -> Compared {
        let mut sides = sides_of(&super::super::tests::SLOWER, 1);
        for (side, demerit) in sides.iter_mut().zip(demerits) {
            let Some(demerit_percent) = demerit else { continue };
            for run in side.iter_mut() {
                let guessed = vec!["host cpu.call_us".to_string()];
                let rests_on = Uncertainty { guessed, demerit_percent, ..Uncertainty::default() };
                run.simulation = Some(Simulation { rests_on, ..Simulation::default() });
            }
        }
        let [a, b] = [0, 1].map(|n| Side { name: format!("side {n}"), runs: sides[n].iter().collect() });
        Compared::of(&a, &b, &CompareOptions::default())
    }

    #[test]
    fn a_model_gives_a_ratio_and_no_certainty() {
        let measured = compared([None, None]);
        assert!(measured.rows.iter().any(|r| r.p.is_some()), "{:?}", measured.rows);
        for demerits in [[Some(None), Some(None)], [None, Some(None)], [Some(Some(3.0)), Some(None)]] {
            let found = compared(demerits);
            for row in found.rows.iter().filter(|r| r.effect.is_some()) {
                let effect = row.effect.unwrap();
                assert_eq!(
                    (row.p, effect.low, effect.high, row.verdict),
                    (None, None, None, Word::Inconclusive)
                );
                assert!(
                    row.sentence.contains("this model was not compared with a device"),
                    "{}",
                    row.sentence
                );
            }
            assert!(found.families.is_empty());
            let sentences: Vec<&str> = found.notices.iter().map(|n| n.sentence.as_str()).collect();
            assert!(sentences.iter().any(|s| s.ends_with("guessed: host cpu.call_us.")), "{sentences:?}");
            assert_eq!(Gate::of(&found, &[]).outcome, Outcome::NotEnoughData);
        }
    }

    #[test]
    fn below_the_model_error_there_is_no_verdict() {
        let sentence = |demerit| compared([None, Some(Some(demerit))]).rows[0].sentence.clone();
        assert!(sentence(90.0).starts_with("Cannot tell: B over A is"), "{}", sentence(90.0));
        assert!(sentence(0.1).ends_with("whose error bar is 0.1 %."), "{}", sentence(0.1));
    }
}
