//! The SysBench table of 2004: SysBench's own parser reads the published command line and those of the held-out figures
//! for simulation in `fathom-sim`.

use super::page::{self, percent};
use super::{Reproduce, cannot};
use fathom_dialects::sysbench::{self, Context};
use fathom_report::reproduced::{Pair, Pairs, Reproduced, ReproducedPart};
use fathom_sim::reproduce::sysbench::{self as table, held_out};
use fathom_workload::Workload;

/// Simulates the table.
pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<table::SysbenchTable> {
    let seeds = options.seeds.unwrap_or(table::SEEDS);
    let others: Vec<Workload> =
        held_out::commands().iter().map(|command| workload(command)).collect::<Result<_, _>>()?;
    table::reproduce(&workload(table::COMMAND)?, &others, seeds, options.ablation)
        .map_err(|e| cannot("sysbench", table::COMMAND, &e))
}

fn workload(command: &str) -> anyhow::Result<Workload> {
    let args: Vec<String> = command.split(' ').map(str::to_owned).collect();
    // The command line reads no options file.
    let context = Context { clock_seed: 1, read: &|_| Err("no file is read".into()) };
    let parsed = sysbench::plan(&args, &context);
    Ok(parsed.map_err(|e| cannot("sysbench", command, &(e.stdout + &e.stderr)))?.workload)
}

/// The table as a page.
pub(super) fn drawn(t: &table::SysbenchTable) -> Reproduced {
    let label = |r: &table::SysbenchRow| format!("{} {}", r.kernel, r.scheduler);
    let pairs = Pairs {
        title: "Seconds for 10 000 requests, published and simulated".into(),
        simulated: vec!["simulated".into()],
        rows: t
            .rows
            .iter()
            .map(|r| Pair { label: label(r), published: r.published_s, simulated: vec![r.simulated_s] })
            .collect(),
    };
    let seconds = t.rows.iter().map(|r| {
        let cells = vec![
            format!("{:.4}", r.published_s),
            format!("{:.4}", r.simulated_s),
            format!("{:.2}", r.deviation_s),
            percent(r.error_percent),
            if r.distinct { "seen" } else { "as rc3" }.into(),
            format!("{:.0} %", r.fsync_share * 100.0),
        ];
        (label(r), cells)
    });
    let counters = t.counters.iter().map(|c| {
        let error = if c.published == 0 { "-".into() } else { percent(c.error_percent()) };
        let mark = match (c.fitted, c.holds(table::SysbenchTolerances::default().counter_percent)) {
            (true, _) => "fitted",
            (false, false) => "MISS",
            (false, true) => "holds",
        };
        let cells = vec![c.published.to_string(), format!("{:.1}", c.simulated), error, mark.into()];
        (format!("{}: {}", c.setting, c.name), cells)
    });
    let mut parts = vec![
        ReproducedPart {
            heading: "Time under each scheduler".into(),
            pairs: vec![pairs],
            tables: vec![page::grid(
                "Seconds in figures",
                &["kernel and scheduler", "published", "simulated", "deviation", "error", "", "in fsync"],
                seconds.collect(),
            )],
            notes: vec![format!(
                "Means of {} seeds. Root mean square of the errors of the nine distinct cells: {:.2} %; the others are the same \
                 kernel again (\"as rc3\").",
                t.seeds, t.rms_percent
            )],
            ..ReproducedPart::default()
        },
        other_figures(t),
        ReproducedPart {
            heading: "Counters of read-ahead".into(),
            tables: vec![page::grid(
                "Counters, published and simulated",
                &["scheduler and state: counter", "published", "simulated", "error", ""],
                counters.collect(),
            )],
            notes: vec![
                "Reset: read-ahead goes off. It is counted as often as it happens, to however many of the 128 files: so the \
                 instrumentation has it that the thread printed these numbers with."
                    .into(),
            ],
            ..ReproducedPart::default()
        },
    ];
    if !t.ablations.is_empty() {
        let heads = table::ablation_heads();
        let heads: Vec<&str> =
            std::iter::once("what is changed").chain(heads.iter().map(String::as_str)).collect();
        let rows = t
            .ablations
            .iter()
            .map(|a| (a.variant.to_string(), a.seconds.iter().map(|s| format!("{s:.1}")).collect()));
        parts.push(ReproducedPart {
            heading: "What each mechanism contributes".into(),
            tables: vec![page::grid("Seconds with one thing changed; p-: patched", &heads, rows.collect())],
            ..ReproducedPart::default()
        });
    }
    Reproduced {
        title: "SysBench file I/O on stock linux kernels, April and May 2004".into(),
        words: vec![
            "16 threads, 3 GB in 128 files, 10 000 requests of 16 KiB, an fsync of every file after every 100.".into(),
            page::sources(t.sources),
        ],
        parts,
        checks: page::checks(&t.checks),
        freedom: t.freedom.iter().map(|f| (*f).to_string()).collect(),
    }
}

/// What is held out, in seconds and as shares of another time.
fn other_figures(t: &table::SysbenchTable) -> ReproducedPart {
    let label = |r: &table::HeldOutFigure| format!("{}, {}", r.kernel, r.setting);
    let pairs = |title: &str, unit: &str| Pairs {
        title: title.into(),
        simulated: vec!["simulated".into()],
        rows: t
            .held_out
            .iter()
            .filter(|r| r.unit == unit)
            .map(|r| Pair { label: label(r), published: r.published(), simulated: vec![r.simulated] })
            .collect(),
    };
    let figures = t.held_out.iter().map(|r| {
        let cells = vec![
            r.published_text(),
            r.shown(r.simulated),
            r.unit.into(),
            percent(r.error_percent),
            r.standing().into(),
        ];
        (label(r), cells)
    });
    let counted = t.held_out.iter().filter(|r| r.held_out).count();
    ReproducedPart {
        heading: "Held out: other figures of the thread".into(),
        pairs: vec![
            pairs("Seconds for 10 000 requests, published and simulated", "s"),
            pairs("Share of the time with 4 GB in 128 files, published and simulated", "of 4 GB"),
        ],
        tables: vec![page::grid(
            "Held-out figures",
            &["kernel and setting", "published", "simulated", "", "error", ""],
            figures.collect(),
        )],
        notes: vec![format!(
            "Root mean square of the errors of the {counted} figures that nothing was set by: {:.2} %. One file instead of 128 is not \
             counted: the journal's rules were chosen by which way it goes.",
            t.held_out_rms_percent
        )],
        ..ReproducedPart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::typed::assert_said;
    use super::*;

    #[test]
    fn figures_in_the_degrees_of_freedom_are_those_of_the_ablation() {
        let workload = workload(table::COMMAND).unwrap();
        let of = |variant, head: &str| table::ablated(&workload, table::SEEDS, variant, head).unwrap();
        let gain = (1.0 - of("CFQ keyed by thread", "CFQ") / of("base", "CFQ")) * 100.0;
        assert_said(&table::FREEDOM, "keyed by thread it is ", gain);
        // The disk's profile explains why its cache does not sort.
        let sorted = "write cache that sorts (32 commands, shortest first)";
        let too_fast: Vec<f64> = table::ablation_heads()
            .iter()
            .zip(table::published_seconds())
            .map(|(head, published)| (1.0 - of(sorted, head) / published) * 100.0)
            .collect();
        let note = fathom_sim::devices::text("deskstar-60gxp").unwrap();
        let (least, most) = too_fast.iter().fold((100.0_f64, 0.0_f64), |(l, m), &f| (l.min(f), m.max(f)));
        assert_said(&[note], "shortest-first is ", least);
        assert_said(&[note], &format!("shortest-first is {least:.0} to "), most);
        assert!(table::ablated(&workload, 1, "nothing", "CFQ").is_err());
    }
}
