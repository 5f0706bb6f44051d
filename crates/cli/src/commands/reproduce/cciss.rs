//! The cciss table of 2008: IOzone's own parser reads the command lines of its logs for simulation in `fathom-sim`.

use super::page::{self, percent};
use super::{Reproduce, cannot};
use crate::exit::Usage;
use fathom_dialects::iozone::{self, Context};
use fathom_report::reproduced::{Pair, Pairs, Reproduced, ReproducedPart};
use fathom_sim::reproduce::cciss as table;
use fathom_workload::Workload;
use jiff::civil::DateTime;

/// Start of the first log.
const BEGUN: DateTime = DateTime::constant(2008, 1, 23, 14, 12, 42, 0);

/// Simulates the table.
pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<table::CcissTable> {
    if options.seeds.is_some() {
        let why = "--seeds: cciss-2008 has no random choices";
        return Err(Usage(why.into()).into());
    }
    let workloads: Vec<Workload> =
        table::published::TESTS.iter().map(|test| workload(test.command)).collect::<Result<_, _>>()?;
    table::reproduce(&workloads, options.ablation).map_err(Into::into)
}

fn workload(command: &str) -> anyhow::Result<Workload> {
    let args: Vec<String> = command.split(' ').map(str::to_owned).collect();
    // No command line reads a file.
    let context = Context {
        now: BEGUN,
        uname: String::new(),
        page_bytes: 4096,
        read: &|_| Err("no file is read".into()),
    };
    let parsed = iozone::plan(&args, &context);
    Ok(parsed.map_err(|e| cannot("iozone", command, &(e.stdout + &e.stderr)))?.workload)
}

/// The table as a page.
pub(super) fn drawn(t: &table::CcissTable) -> Reproduced {
    let names: Vec<String> = t.hypotheses.iter().map(|h| h.name.to_string()).collect();
    let label = |r: &table::CcissRow| format!("{} {}", r.test, r.kernel);
    let pairs = |what: &str,
                 published: fn(&table::CcissRow) -> f64,
                 ours: fn(&table::HypothesisResult) -> f64| Pairs {
        title: format!("{what}, MB/s of 1024 KB, published and simulated"),
        simulated: names.clone(),
        rows: t
            .rows
            .iter()
            .map(|r| Pair {
                label: label(r),
                published: published(r) / 1024.0,
                simulated: r.outcomes.iter().map(|o| ours(o) / 1024.0).collect(),
            })
            .collect(),
    };
    let outcomes = || t.rows.iter().flat_map(|r| r.outcomes.iter().map(move |o| (r, o)));
    let rates = outcomes().map(|(r, o)| {
        let cells = vec![
            format!("{:.1}", r.published_write_kb_s),
            format!("{:.1}", o.write_kb_s),
            percent(o.write_error_percent),
            format!("{:.1}", r.published_rewrite_kb_s),
            format!("{:.1}", o.rewrite_kb_s),
            percent(o.rewrite_error_percent),
            r.kind.to_string(),
        ];
        (format!("{} {}", label(r), o.hypothesis), cells)
    });
    let requests = outcomes().map(|(r, o)| {
        let segments: Vec<String> =
            o.segments.iter().map(|s| format!("{}: {:.1} %", s.segments, s.percent_of_bytes)).collect();
        let cells = vec![
            o.request_kib.to_string(),
            format!("{:.1}", o.run),
            format!("{:.1} %", o.past_percent),
            segments.join(", "),
        ];
        (format!("{} {}", label(r), o.hypothesis), cells)
    });
    let mut parts = vec![
        ReproducedPart {
            heading: "Rates of writers".into(),
            pairs: vec![
                pairs("Initial writers", |r| r.published_write_kb_s, |o| o.write_kb_s),
                pairs("Rewriters", |r| r.published_rewrite_kb_s, |o| o.rewrite_kb_s),
            ],
            tables: vec![page::grid(
                "Rates in figures, KB/s as IOzone prints them",
                &[
                    "test and kernel",
                    "written",
                    "simulated",
                    "error",
                    "rewritten",
                    "simulated",
                    "error",
                    "cell",
                ],
                rates.collect(),
            )],
            notes: t.misses.clone(),
            ..ReproducedPart::default()
        },
        ReproducedPart {
            heading: "Requests".into(),
            tables: vec![page::grid(
                "Requests that reach the controller: the length that moves most bytes, commands in a row that follow each other, \
                 commands that its cache did not take, segments with their share of the bytes",
                &["test and kernel", "KiB", "run", "past the cache", "segments"],
                requests.collect(),
            )],
            ..ReproducedPart::default()
        },
    ];
    if !t.ablations.is_empty() {
        let heads = table::ablation_heads();
        let heads: Vec<&str> = std::iter::once("what is changed")
            .chain(heads.iter().map(String::as_str))
            .chain(["1x rc8, KiB"])
            .collect();
        let rows = t.ablations.iter().map(|a| {
            let cells = a.write_kb_s.iter().map(|r| format!("{r:.1}")).chain([a.request_kib.to_string()]);
            (format!("{} {}", a.variant, a.hypothesis), cells.collect())
        });
        parts.push(ReproducedPart {
            heading: "What each mechanism contributes".into(),
            tables: vec![page::grid(
                "KB/s of the initial writers with one thing changed",
                &heads,
                rows.collect(),
            )],
            ..ReproducedPart::default()
        });
    }
    let hypotheses = t.hypotheses.iter().map(|h| format!("{}: {} ({}).", h.name, h.says, h.device));
    Reproduced {
        title: "Writing large files on cciss hardware, January 2008".into(),
        words: [
            "rc8: linux 2.6.24-rc8, pages in ascending order; rc8*: commit 81eabcbe reverted, in descending order.".to_string(),
            page::sources(t.sources),
        ]
        .into_iter()
        .chain(hypotheses)
        .collect(),
        parts,
        checks: page::checks(&t.checks),
        freedom: t.freedom.iter().map(|f| (*f).to_string()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::typed::assert_said;
    use super::*;
    use fathom_sim::reproduce::side_by_side;

    #[test]
    fn figures_in_the_degrees_of_freedom_are_those_of_the_ablation() {
        let workloads: Vec<Workload> =
            table::published::TESTS.iter().map(|test| workload(test.command).unwrap()).collect();
        let unfitted = "nothing fitted: joined up to 8 MiB, bios of 31 pages, 512 commands";
        let (joined, turns) = (
            "commands past the cache: joined up to 8 MiB",
            "files laid out alternately in runs of 1027 blocks (windows of ext2)",
        );
        let figures = [
            ("base", "H1", "2x rc8"),
            ("base", "H2", "2x rc8*"),
            (joined, "H1", "1x rc8"),
            (joined, "H1", "2x rc8"),
            (joined, "H1", "3x rc8"),
            (joined, "H1", "2x rc8*"),
            (turns, "H1", "2x rc8"),
            (turns, "H2", "2x rc8*"),
            ("stripe unit of 32 KiB", "H1", "2x rc8"),
            ("stripe unit of 128 KiB", "H1", "2x rc8"),
            (unfitted, "H1", "2x rc8"),
            (unfitted, "H1", "2x rc8*"),
            (unfitted, "H2", "2x rc8"),
            (unfitted, "H2", "2x rc8*"),
        ];
        let mb_s = side_by_side(&figures, |&(variant, hypothesis, head)| {
            table::ablated(&workloads, variant, hypothesis, head).unwrap() / 1000.0
        });
        let [base, base_star, one, two, three, two_star, by_turns, by_turns_star, small, large, plain @ ..] =
            &mb_s[..]
        else {
            panic!("{mb_s:?}")
        };
        for (before, found) in [
            ("with 32 KiB ", *small),
            ("with 128 KiB ", *large),
            ("1, 2 and 3 writers reach ", *one),
            ("1, 2 and 3 writers reach 24, ", *two),
            ("1, 2 and 3 writers reach 24, 20 and ", *three),
            ("the ratio of 2 writers is ", two_star / two),
            ("merged as first guessed, 2 writers reach ", plain[0]),
            ("and the ratio is ", plain[1] / plain[0]),
            ("and the ratio is 6.1 under H1 and ", plain[3] / plain[2]),
            ("makes 1x3GB a larger miss (", *one),
            ("windows of ext2, 2 writers are ", (by_turns / base - 1.0) * 100.0),
            ("those of rc8* reach ", *by_turns_star),
            ("those of rc8* reach 57 MB/s instead of ", *base_star),
        ] {
            assert_said(&table::FREEDOM, before, found);
        }
        assert!(table::ablated(&workloads, "base", "H3", "2x rc8").is_err());
    }
}
