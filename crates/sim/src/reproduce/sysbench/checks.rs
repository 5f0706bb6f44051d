//! The tolerances as they were stated before anything was simulated, and whether they hold.

use super::super::Check;
use super::SysbenchTable;

/// Stated tolerances.
#[derive(Clone, Copy, Debug)]
pub struct SysbenchTolerances {
    /// Error of every cell, %.
    pub cell_percent: f64,
    /// Root mean square error over the cells that no number was fitted to alone, %.
    pub rms_percent: f64,
    /// The same over the held-out figures, %.
    pub held_out_rms_percent: f64,
    /// Cells whose published times are closer together than this may change places, %.
    pub tie_percent: f64,
    /// Ratio of unpatched to patched, for every scheduler.
    pub gain: (f64, f64),
    /// Error of every counter, %.
    pub counter_percent: f64,
}

impl Default for SysbenchTolerances {
    fn default() -> Self {
        Self {
            cell_percent: 10.0,
            rms_percent: 6.0,
            held_out_rms_percent: 6.0,
            tie_percent: 2.0,
            gain: (1.3, 1.8),
            counter_percent: 10.0,
        }
    }
}

/// Runs every check of a table.
pub(super) fn all(table: &SysbenchTable, t: &SysbenchTolerances) -> Vec<Check> {
    let mut checks = vec![cells(table, t), rms(table, t)];
    for kernel in ["2.6.6-rc3", "2.6.6-rc3 + patch"] {
        checks.push(order(table, t, kernel));
    }
    checks.push(gain(table, t));
    checks.push(counters(table, t));
    checks.push(held_out(table, t));
    checks
}

fn cells(table: &SysbenchTable, t: &SysbenchTolerances) -> Check {
    let worst = table.rows.iter().max_by(|a, b| a.error_percent.abs().total_cmp(&b.error_percent.abs()));
    let (name, error) =
        worst.map_or((String::new(), 0.0), |r| (format!("{}, {}", r.kernel, r.scheduler), r.error_percent));
    Check {
        stated: format!("every cell within {} %", t.cell_percent),
        found: format!("worst {error:+.1} % ({name})"),
        holds: !table.rows.is_empty() && error.abs() <= t.cell_percent,
    }
}

fn rms(table: &SysbenchTable, t: &SysbenchTolerances) -> Check {
    Check {
        stated: format!(
            "root mean square over the distinct cells, seen and not held out, at most {} %",
            t.rms_percent
        ),
        found: format!(
            "{:.1} % over {}",
            table.rms_percent,
            table.rows.iter().filter(|r| r.distinct).count()
        ),
        holds: table.rows.iter().any(|r| r.distinct) && table.rms_percent <= t.rms_percent,
    }
}

fn held_out(table: &SysbenchTable, t: &SysbenchTolerances) -> Check {
    let rows: Vec<_> = table.held_out.iter().filter(|r| r.held_out).collect();
    let worst = rows.iter().max_by(|a, b| a.error_percent.abs().total_cmp(&b.error_percent.abs()));
    let worst = worst.map_or_else(String::new, |r| {
        format!(", worst {:+.1} % ({}, {})", r.error_percent, r.kernel, r.setting)
    });
    Check {
        stated: format!("RMS over the held-out figures at most {} %", t.held_out_rms_percent),
        found: format!("{:.1} % over {}{worst}", table.held_out_rms_percent, rows.len()),
        holds: !rows.is_empty() && table.held_out_rms_percent <= t.held_out_rms_percent,
    }
}

/// Pairs whose order differs from the published one, beyond a tie.
fn order(table: &SysbenchTable, t: &SysbenchTolerances, kernel: &str) -> Check {
    let rows: Vec<_> = table.rows.iter().filter(|r| r.kernel == kernel).collect();
    let mut wrong = Vec::new();
    for (n, a) in rows.iter().enumerate() {
        for b in &rows[n + 1..] {
            let (slow, fast) = if a.published_s > b.published_s { (a, b) } else { (b, a) };
            let tie = (slow.published_s / fast.published_s - 1.0) * 100.0 < t.tie_percent;
            if !tie && slow.simulated_s < fast.simulated_s {
                wrong.push(format!("{} before {}", slow.scheduler, fast.scheduler));
            }
        }
    }
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| a.simulated_s.total_cmp(&b.simulated_s));
    let names: Vec<&str> = sorted.iter().map(|r| r.scheduler).collect();
    let but = if wrong.is_empty() { String::new() } else { format!("; wrong: {}", wrong.join(", ")) };
    Check {
        stated: format!(
            "schedulers of {kernel} in the published order (ties under {} % may swap)",
            t.tie_percent
        ),
        found: format!("{}{but}", names.join(" < ")),
        holds: wrong.is_empty(),
    }
}

fn gain(table: &SysbenchTable, t: &SysbenchTolerances) -> Check {
    let of = |kernel: &'static str| table.rows.iter().filter(move |r| r.kernel == kernel);
    let gains: Vec<f64> = of("2.6.6-rc3")
        .filter_map(|a| {
            let b = of("2.6.6-rc3 + patch").find(|b| b.scheduler == a.scheduler)?;
            Some(a.simulated_s / b.simulated_s)
        })
        .collect();
    let shown: Vec<String> = gains.iter().map(|g| format!("{g:.2}")).collect();
    Check {
        stated: format!("the patch gains a factor of {} to {} under every scheduler", t.gain.0, t.gain.1),
        found: shown.join(", "),
        holds: gains.len() == 4 && gains.iter().all(|g| (t.gain.0..=t.gain.1).contains(g)),
    }
}

fn counters(table: &SysbenchTable, t: &SysbenchTolerances) -> Check {
    // A counter that a value was fitted to holds by itself.
    let judged: Vec<_> = table.counters.iter().filter(|c| !c.fitted).collect();
    let (zeros, others): (Vec<&super::Counter>, Vec<_>) = judged.iter().partition(|c| c.published == 0);
    let worst = others.iter().max_by(|a, b| a.error_percent().abs().total_cmp(&b.error_percent().abs()));
    let named = |c: &super::Counter| format!("{}: {}", c.setting, c.name);
    let mut found = worst.map_or_else(
        || "none is there".to_string(),
        |c| format!("worst {:+.1} % ({})", c.error_percent(), named(c)),
    );
    for c in others.iter().filter(|c| !c.holds(t.counter_percent)).filter(|c| Some(*c) != worst) {
        found += &format!("; {:+.1} % ({})", c.error_percent(), named(c));
    }
    // A published 0 has no percentage: ours must be 0, too.
    for c in zeros.into_iter().filter(|c| !c.holds(t.counter_percent)) {
        found += &format!("; {:.1} instead of 0 ({})", c.simulated, named(c));
    }
    Check {
        stated: format!("counters of read-ahead that nothing was fitted to within {} %", t.counter_percent),
        found,
        holds: !judged.is_empty() && judged.iter().all(|c| c.holds(t.counter_percent)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::held_out::{rms_percent, tests::published_times};
    use super::super::{Counter, SysbenchRow, published::CELLS};
    use super::*;

    fn counter(published: u64, simulated: f64) -> Counter {
        Counter { setting: "AS".into(), name: "went off", published, simulated, fitted: false }
    }

    fn table(of: impl Fn(usize) -> f64) -> SysbenchTable {
        let rows: Vec<SysbenchRow> = CELLS
            .iter()
            .enumerate()
            .map(|(at, c)| SysbenchRow {
                kernel: c.kernel,
                scheduler: c.scheduler,
                published_s: c.published_s,
                simulated_s: of(at),
                deviation_s: 0.0,
                error_percent: (of(at) / c.published_s - 1.0) * 100.0,
                distinct: at < 9,
                fsync_share: 0.5,
            })
            .collect();
        SysbenchTable {
            seeds: 1,
            rows,
            rms_percent: 1.0,
            held_out: published_times(|_| 1.0),
            held_out_rms_percent: 0.0,
            counters: vec![counter(127, 120.0), counter(0, 0.1)],
            checks: Vec::new(),
            freedom: Vec::new(),
            sources: [0; 4],
            ablations: Vec::new(),
        }
    }

    #[test]
    fn the_published_table_holds_its_own_tolerances() {
        let checks = all(&table(|at| CELLS[at].published_s), &SysbenchTolerances::default());
        assert!(checks.iter().all(|c| c.holds), "{checks:?}");
    }

    #[test]
    fn a_wrong_counter_is_named_and_an_empty_table_fails() {
        let check = |counters| {
            let table = SysbenchTable { counters, ..table(|at| CELLS[at].published_s) };
            super::counters(&table, &SysbenchTolerances::default())
        };
        assert!(check(vec![counter(127, 115.0), counter(0, 0.4)]).holds);
        let wrong = check(vec![counter(127, 113.0), counter(0, 0.0)]);
        assert!(!wrong.holds && wrong.found.contains("-11.0 % (AS: went off)"), "{wrong:?}");
        let wrong = check(vec![counter(127, 127.0), counter(0, 8.0)]);
        assert!(!wrong.holds && wrong.found.ends_with("; 8.0 instead of 0 (AS: went off)"), "{wrong:?}");
        assert!(!check(Vec::new()).holds);
        // A fitted counter is no evidence, neither for nor against.
        let fitted = |simulated| Counter { fitted: true, ..counter(1066, simulated) };
        assert!(!check(vec![fitted(1066.0)]).holds);
        assert!(check(vec![counter(127, 120.0), fitted(900.0)]).holds);
        let empty = SysbenchTable { rows: Vec::new(), ..table(|at| CELLS[at].published_s) };
        let checks = all(&empty, &SysbenchTolerances::default());
        assert!(!checks[0].holds && !checks[1].holds, "{checks:?}");
    }

    #[test]
    fn held_out_figures_have_their_own_tolerance() {
        let check = |rows: Vec<super::super::HeldOutFigure>| {
            let held_out_rms_percent = rms_percent(&rows);
            let table =
                SysbenchTable { held_out: rows, held_out_rms_percent, ..table(|at| CELLS[at].published_s) };
            all(&table, &SysbenchTolerances::default())
        };
        let checks = check(published_times(|_| 0.95));
        assert!(checks.iter().all(|c| c.holds), "{checks:?}");
        let checks = check(published_times(|at| if at == 5 { 1.3 } else { 1.0 }));
        let (last, others) = checks.split_last().unwrap();
        assert!(!last.holds && others.iter().all(|c| c.holds), "{checks:?}");
        assert_eq!(last.found, "10.0 % over 9, worst +30.0 % (2.6 anticipatory, other disk: 2 GB)");
        assert!(!check(Vec::new()).iter().all(|c| c.holds));
    }

    #[test]
    fn a_tie_may_swap_and_nothing_else() {
        // CFQ and noop of the patched kernel are 1.8 % apart.
        let swapped = |a: usize, b: usize| {
            move |at: usize| {
                CELLS[if at == a {
                    b
                } else if at == b {
                    a
                } else {
                    at
                }]
                .published_s
            }
        };
        let order = |t: SysbenchTable| super::order(&t, &SysbenchTolerances::default(), "2.6.6-rc3 + patch");
        assert!(order(table(swapped(5, 8))).holds);
        let wrong = order(table(swapped(6, 7)));
        assert!(!wrong.holds && wrong.found.contains("wrong: deadline before anticipatory"), "{wrong:?}");
    }

    #[test]
    fn a_cell_that_is_off_is_named() {
        let checks = all(
            &table(|at| CELLS[at].published_s * if at == 3 { 1.2 } else { 1.0 }),
            &SysbenchTolerances::default(),
        );
        assert!(!checks[0].holds && checks[0].found.contains("+20.0 % (2.6.6-rc3, deadline)"), "{checks:?}");
    }
}
