//! A sweep's plan in words, for `--plan`: what is changed from which value to which, what is made, and the number and
//! order of runs.

use super::kernel;
use super::session::SweepSession;
use super::stage::SweepStage;
use super::vary::Target;
use crate::common::ColdReach;
use crate::console;
use fathom_report::units;
use std::fmt::Write as _;

const MOST_RUNS: usize = 200;

pub fn words(session: &SweepSession<'_>) -> String {
    let runs: usize = session.blocks.iter().map(Vec::len).sum();
    let mut text = format!(
        "sweep of {}: {}, {}, {}, order from seed {}\n",
        session.asked.stage.words(),
        console::counted(session.stage.cells.len() as u64, "cell"),
        console::counted(session.asked.rounds.into(), "round"),
        console::counted(runs as u64, "run"),
        session.asked.stage.seed
    );
    text += &prepared(&session.stage);
    let mut number = 0;
    for (at, block) in session.blocks.iter().enumerate() {
        let _ = writeln!(text, "block {}:", at + 1);
        for cell in block {
            number += 1;
            if number > MOST_RUNS {
                let _ = writeln!(text, "  ... and {} more", runs - MOST_RUNS);
                return text;
            }
            let _ = writeln!(text, "  {number}. {}", session.stage.settings(*cell));
        }
    }
    text
}

/// What is made and changed, and what precedes every run.
pub fn prepared(stage: &SweepStage<'_>) -> String {
    let mut text = String::new();
    if stage.asked.has_disk() {
        let _ = writeln!(
            text,
            "makes an image of {} in {} with a loop device over it, and before every run a new file system on it",
            units::bytes(stage.asked.image_bytes),
            stage.asked.image_in.display()
        );
    }
    for (varied, (places, before)) in stage.varied.iter().zip(stage.places.iter().zip(&stage.before)) {
        let whose = match varied.knob() {
            Some(knob) if kernel::is_of_device(knob) && places.is_empty() => "of the loop device".to_string(),
            Some(_) => {
                let devices: Vec<&str> = places.iter().map(|p| p.device.as_str()).collect();
                let now = before.as_ref().map_or(String::new(), |b| format!(", now {b}"));
                format!("of {}{now}; changed, and restored at the end", devices.join(", "))
            }
            None if varied.is_of_disk() => "of the file system that is made".into(),
            None if matches!(varied.target, Target::Subject | Target::Directory) => continue,
            None if matches!(varied.target, Target::Argument) => "in the arguments".into(),
            None => "in the workload".into(),
        };
        let _ = writeln!(text, "varies {}: {} ({whose})", varied.name, varied.values.join(", "));
    }
    let cold = match stage.asked.cold {
        None => "",
        Some(ColdReach::Files) => ", the files to read are evicted from memory",
        Some(ColdReach::Machine) => {
            ", the files to read are evicted from memory, if need be with the whole machine's cache"
        }
    };
    let _ =
        writeln!(text, "before every run: dirty pages are written back{cold}, and the device becomes idle");
    text
}
