//! Writes every kind of report of the sample runs into a directory for inspection: `cargo run -p fathom-report --example demo -- DIR`.

#[path = "../tests/support/samples.rs"]
mod samples;

use fathom_record::Run;
use fathom_report::{html, markdown, svg, terminal, xlsx};
use std::{error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let target = PathBuf::from(std::env::args_os().nth(1).ok_or("Name the directory to write into.")?);
    fs::create_dir_all(&target)?;
    let (auto, changed) = (samples::auto_run(), samples::auto_run_changed());
    let (throughput, survey) = (samples::throughput_run(), samples::survey_run());
    let (interrupted, hostile) = (samples::interrupted_run(), samples::hostile_run());
    let engine = samples::engine_run();
    let (mail, mail_changed) = (samples::filebench_run(), samples::filebench_run_changed());
    let sysbench = samples::sysbench_run();
    let (observed, lossy) = (samples::observed_run(), samples::lossy_run());
    let sets: [(&str, Vec<&Run>); 12] = [
        ("auto", vec![&auto]),
        ("compared", vec![&auto, &changed]),
        ("throughput", vec![&throughput]),
        ("survey", vec![&survey]),
        ("interrupted", vec![&interrupted]),
        ("hostile", vec![&hostile]),
        ("engine", vec![&engine]),
        ("filebench", vec![&mail]),
        ("filebench-compared", vec![&mail, &mail_changed]),
        ("sysbench", vec![&sysbench]),
        ("observed", vec![&observed]),
        ("lossy", vec![&lossy]),
    ];
    for (name, runs) in sets {
        fs::write(target.join(format!("{name}.html")), html::page(&runs))?;
        fs::write(target.join(format!("{name}.md")), markdown::summary(&runs))?;
        fs::write(target.join(format!("{name}.txt")), terminal::summary(runs[0], 80, false))?;
        fs::write(target.join(format!("{name}.ansi")), terminal::summary(runs[0], 80, true))?;
        std::fs::write(target.join(format!("{name}.xlsx")), xlsx::bytes(&runs)?)?;
        for picture in svg::of_run(runs[0]).iter().take(4) {
            fs::write(target.join(format!("{name}-{}.svg", picture.slug)), picture.standalone())?;
        }
    }
    Ok(())
}
