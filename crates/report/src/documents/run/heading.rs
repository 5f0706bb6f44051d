//! The head of a report of runs: the title says what was measured where, and the line below it gives the device's size, the date
//! and the duration. A simulated run has no place: its title is its name, which says that it is simulated.

use super::RunView;
use crate::{printable::clean, survey, svg::shortened, units};
use fathom_record::{Run, Status};

/// Maximum length of a command line used as a name.
const MOST_LETTERS: usize = 70;
/// Maximum number of runs in a title; beyond that it names the first and counts the others.
const MOST_NAMED: usize = 4;

/// "vda, ext4 on /mnt/data: database log"; for several runs, their names after the place they share.
pub(crate) fn title(views: &[RunView<'_>]) -> String {
    let place = match views {
        [first, others @ ..] => {
            place(first).filter(|p| others.iter().all(|v| self::place(v).as_ref() == Some(p)))
        }
        [] => return "fathom".into(),
    };
    let names: Vec<String> = views.iter().filter_map(name).collect();
    let names = names_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    match place {
        Some(place) if names.is_empty() => place,
        Some(place) => format!("{place}: {names}"),
        None if names.is_empty() => views[0].story.title.clone(),
        None => names,
    }
}

/// "vda, ext4 on /mnt/data".
fn place(view: &RunView<'_>) -> Option<String> {
    let (machine, directory) = (&view.machine, view.run.directory.as_str());
    let directory = if directory == "/" { directory } else { directory.trim_end_matches('/') };
    if view.run.simulation.is_some() || directory.is_empty() {
        return None;
    }
    Some(match (&machine.device, &machine.filesystem) {
        (Some(device), Some(kind)) => format!("{device}, {kind} on {directory}"),
        (None, Some(kind)) => format!("{kind} on {directory}"),
        (Some(device), None) if !directory.ends_with(&format!("/{device}")) => {
            format!("{device}, {directory}")
        }
        (_, None) => directory.to_owned(),
    })
}

/// What was done there; `None` for a survey, which is only about the place.
fn name(view: &RunView<'_>) -> Option<String> {
    let run = view.run;
    if survey::is_survey(run) {
        return None;
    }
    let command = || shortened(&clean(&run.argv.join(" ")), MOST_LETTERS);
    Some(if run.label.is_empty() && !run.argv.is_empty() && run.simulation.is_none() {
        command()
    } else {
        view.story.title.clone()
    })
}

fn names_of(runs: &[&str]) -> String {
    match runs {
        many if many.len() > MOST_NAMED => format!("{} and {} more runs", many[0], many.len() - 1),
        few => few.join(" / "),
    }
}

/// "256 GiB virtual disk · 2026-11-28 03:47 · 35 s", or how many runs there are.
pub(crate) fn lead(views: &[RunView<'_>]) -> String {
    match views {
        [view] => lead_of_one(view),
        _ => side_by_side(views),
    }
}

/// The number of runs, with a warning if a simulated one could be taken for measured.
fn side_by_side(views: &[RunView<'_>]) -> String {
    let all = views.len();
    match views.iter().filter(|v| v.run.simulation.is_some()).count() {
        0 => format!("{all} runs side by side"),
        n if n == all => format!("{all} runs side by side, all of them simulated: nothing was measured"),
        n => format!("{all} runs side by side: {} measured, {n} simulated", all - n),
    }
}

fn lead_of_one(view: &RunView<'_>) -> String {
    let run = view.run;
    let day: String = run.started_at.chars().take(16).collect();
    let ended = (run.status != Status::Completed).then(|| run.status.word().to_owned());
    let parts = [device(run), Some(day.replace('T', " ")), lasted(run), ended];
    parts.into_iter().flatten().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// "256 GiB virtual disk".
fn device(run: &Run) -> Option<String> {
    if run.simulation.is_some() {
        return None;
    }
    let device = &run.environment["devices"][0];
    let size = device["size_bytes"].as_u64().map(units::bytes)?;
    let kind = if device["transport"] == "virtio" { "virtual disk" } else { "device" };
    Some(format!("{size} {kind}"))
}

/// Duration of the run in whole seconds, as recorded.
fn lasted(run: &Run) -> Option<String> {
    if run.simulation.is_some() {
        return None;
    }
    let at = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let seconds = at(&run.ended_at)?.as_second().checked_sub(at(&run.started_at)?.as_second())?;
    match seconds {
        i64::MIN..=-1 => None,
        0 => Some("less than a second".into()),
        1..=119 => Some(format!("{seconds} s")),
        120..=7199 => Some(format!("{} min", seconds / 60)),
        _ => Some(format!("{} h {} min", seconds / 3600, seconds % 3600 / 60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use serde_json::json;

    fn at(mut run: Run) -> Run {
        run.directory = "/mnt/data".into();
        run.environment = json!({
            "filesystem": {"type": "ext4"},
            "devices": [{"name": "vda", "size_bytes": 256u64 << 30, "transport": "virtio"}],
        });
        (run.started_at, run.ended_at) =
            ("2026-11-28T03:47:53+00:00".into(), "2026-11-28T03:48:28+00:00".into());
        run
    }

    #[test]
    fn the_title_is_what_was_measured_where() {
        let run = at(samples::engine_run());
        assert_eq!(title(&[RunView::of(&run)]), format!("vda, ext4 on /mnt/data: {}", run.label));
        assert_eq!(lead(&[RunView::of(&run)]), "256 GiB virtual disk · 2026-11-28 03:47 · 35 s");
        let mut survey = at(samples::survey_run());
        survey.phases[0].axes.tags.insert("stage".into(), survey::LADDER.into());
        assert_eq!(title(&[RunView::of(&survey)]), "vda, ext4 on /mnt/data");
        let mut unnamed = at(samples::auto_run());
        unnamed.label.clear();
        unnamed.argv = ["iozone", "-a"].map(String::from).to_vec();
        unnamed.directory = "/mnt/data/".into();
        assert_eq!(title(&[RunView::of(&unnamed)]), "vda, ext4 on /mnt/data: iozone -a");
    }

    #[test]
    fn a_simulated_run_has_no_place() {
        let run = at(samples::simulated_run());
        assert_eq!(title(&[RunView::of(&run)]), Story::of(&run).title);
        assert_eq!(lead(&[RunView::of(&run)]), "2026-11-28 03:47");
    }

    #[test]
    fn several_runs_share_their_place_or_have_none() {
        let (a, b) = (at(samples::engine_run()), at(samples::sysbench_run()));
        let names = format!("{} / {}", a.label, b.label);
        assert_eq!(title(&[RunView::of(&a), RunView::of(&b)]), format!("vda, ext4 on /mnt/data: {names}"));
        let mut b = b;
        b.directory = "/srv".into();
        assert_eq!(title(&[RunView::of(&a), RunView::of(&b)]), names);
    }

    #[test]
    fn a_title_names_few_runs_and_counts_many() {
        assert_eq!(names_of(&["a", "b"]), "a / b");
        assert_eq!(names_of(&["a"; 42]), "a and 41 more runs");
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let mut run = at(samples::interrupted_run());
        run.environment = serde_json::Value::Null;
        run.ended_at.clear();
        assert_eq!(lead(&[RunView::of(&run)]), "2026-11-28 03:47 · interrupted");
    }

    use crate::Story;
}
