//! Golden files of the static formats for the sample runs. Accept an intended change with `INSTA_UPDATE=always`.

use crate::samples;
use fathom_report::{html, markdown, svg, terminal, text};

#[test]
fn pictures() {
    let auto = samples::auto_run();
    let pictures = svg::of_run(&auto);
    for slug in ["surface-read", "heat-map-read-throughput"] {
        let picture = pictures.iter().find(|p| p.slug == slug).unwrap_or_else(|| panic!("no picture {slug}"));
        insta::assert_snapshot!(slug, picture.standalone());
    }
    insta::assert_snapshot!(
        "answer-sysbench",
        svg::answer(&[&samples::sysbench_run()]).unwrap_or_else(|| panic!("no picture")).standalone()
    );
    let survey = svg::of_run(&samples::survey_run());
    let latency = survey.iter().find(|p| p.slug == "latency").unwrap_or_else(|| panic!("no latency chart"));
    insta::assert_snapshot!("latency", latency.standalone());
    let throughput = svg::of_run(&samples::throughput_run());
    for start in ["streams-write", "series-0-write"] {
        let picture =
            throughput.iter().find(|p| p.slug.starts_with(start)).unwrap_or_else(|| panic!("no {start}"));
        insta::assert_snapshot!(start, picture.standalone());
    }
}

/// The part of a text from `from` up to `to`.
fn part<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    let start = html.find(from).unwrap_or_else(|| panic!("no {from}"));
    let end = html[start..].find(to).unwrap_or_else(|| panic!("no {to} after {from}"));
    &html[start..start + end]
}

#[test]
fn parts_of_a_page() {
    let html = html::page(&[&samples::engine_run()]);
    insta::assert_snapshot!(
        "html-trust",
        part(&html, "aria-label=\"What the result is worth", "</table></div>")
    );
    let conduct = part(&html, "\">How it went</h2>", "<h2");
    insta::assert_snapshot!("html-conduct", conduct);
    let pictures = svg::of_run(&samples::engine_run());
    let p99 = pictures.iter().find(|p| p.slug.starts_with("p99-0")).unwrap_or_else(|| panic!("no p99"));
    insta::assert_snapshot!("p99-over-time", p99.standalone());
    let html = html::page(&[&samples::filebench_run()]);
    insta::assert_snapshot!("html-operations", part(&html, "\">Operation by operation</h2>", "<h2"));
}

#[test]
fn pictures_by_operation_and_kind() {
    let flow = svg::of_run(&samples::filebench_run());
    let mixed = svg::of_run(&samples::sysbench_run());
    for (pictures, start) in [
        (&flow, "operations-0"),
        (&flow, "series-1"),
        (&mixed, "kinds-0"),
        (&mixed, "syncs-0"),
        (&mixed, "p99-0"),
        (&mixed, "p99-sync-0"),
    ] {
        let found = pictures.iter().find(|p| p.slug.starts_with(start));
        let picture = found.unwrap_or_else(|| panic!("no {start}"));
        insta::assert_snapshot!(format!("flow-{start}"), picture.standalone());
    }
}

#[test]
fn markdown_summaries() {
    let (auto, changed) = (samples::auto_run(), samples::auto_run_changed());
    insta::assert_snapshot!("markdown-auto", markdown::summary(&[&auto]));
    insta::assert_snapshot!("markdown-throughput", markdown::summary(&[&samples::throughput_run()]));
    insta::assert_snapshot!("markdown-synced", markdown::summary(&[&samples::synced_run()]));
    insta::assert_snapshot!("markdown-interrupted", markdown::summary(&[&samples::interrupted_run()]));
    insta::assert_snapshot!("markdown-engine", markdown::summary(&[&samples::engine_run()]));
    insta::assert_snapshot!("markdown-hostile", markdown::summary(&[&samples::hostile_run()]));
    let (mail, mail_changed) = (samples::filebench_run(), samples::filebench_run_changed());
    insta::assert_snapshot!("markdown-filebench", markdown::summary(&[&mail, &mail_changed]));
    insta::assert_snapshot!("markdown-sysbench", markdown::summary(&[&samples::sysbench_run()]));
    insta::assert_snapshot!("markdown-compared", markdown::summary(&[&auto, &changed]));
}

#[test]
fn tickets() {
    let (auto, changed) = (samples::auto_run(), samples::auto_run_changed());
    insta::assert_snapshot!("ticket-auto", markdown::ticket(&[&auto]));
    insta::assert_snapshot!("ticket-survey", markdown::ticket(&[&samples::survey_run()]));
    insta::assert_snapshot!("ticket-sysbench", markdown::ticket(&[&samples::sysbench_run()]));
    insta::assert_snapshot!("ticket-imported", markdown::ticket(&[&samples::imported_run()]));
    insta::assert_snapshot!("ticket-compared", markdown::ticket(&[&auto, &changed]));
}

#[test]
fn terminal_pages() {
    insta::assert_snapshot!("terminal-auto", terminal::summary(&samples::auto_run(), 80, false));
    insta::assert_snapshot!("terminal-auto-colour", terminal::summary(&samples::auto_run(), 80, true));
    insta::assert_snapshot!("terminal-survey", terminal::summary(&samples::survey_run(), 80, false));
    insta::assert_snapshot!("terminal-synced", terminal::summary(&samples::synced_run(), 80, false));
    insta::assert_snapshot!("terminal-throughput", terminal::summary(&samples::throughput_run(), 60, false));
    insta::assert_snapshot!(
        "terminal-interrupted",
        terminal::summary(&samples::interrupted_run(), 80, false)
    );
    let engine = samples::engine_run();
    insta::assert_snapshot!("terminal-engine", terminal::summary(&engine, 80, false));
    insta::assert_snapshot!("terminal-engine-colour", terminal::summary(&engine, 80, true));
    insta::assert_snapshot!("terminal-filebench", terminal::summary(&samples::filebench_run(), 80, false));
    insta::assert_snapshot!("terminal-sysbench", terminal::summary(&samples::sysbench_run(), 80, false));
    let full = fathom_record::Run { trust: samples::trust_list(), ..samples::survey_run() };
    insta::assert_snapshot!("terminal-survey-trust", terminal::summary(&full, 80, false));
    insta::assert_snapshot!("terminal-hostile", terminal::summary(&samples::hostile_run(), 80, false));
}

#[test]
fn what_reached_the_device() {
    let run = samples::observed_run();
    insta::assert_snapshot!("text-block-80", text::run::long(&run, 80));
    insta::assert_snapshot!("text-block-wide", text::run::long(&samples::lossy_run(), 200));
    insta::assert_snapshot!("terminal-observed", terminal::summary(&run, 80, false));
    insta::assert_snapshot!("markdown-observed", markdown::summary(&[&run]));
    let pictures = svg::of_run(&run);
    for start in ["sizes-1-vda", "seeks-1-vda", "depths-1-vda", "device-latency-1-vda", "block-rate-1-vda"] {
        let found = pictures.iter().find(|p| p.slug.starts_with(start));
        insta::assert_snapshot!(start, found.unwrap_or_else(|| panic!("no {start}")).standalone());
    }
}
