//! The heading of pictures, tickets and workbooks: what was measured, where, on which storage and machine, and when.

use crate::{Machine, answer, imported, printable::clean, story};
use fathom_record::Run;

/// Two lines: what was measured and where; on what and when. The second may be empty.
#[must_use]
pub fn lines(run: &Run) -> [String; 2] {
    let machine = Machine::of(run);
    let title = story::title(run);
    let is_told = run.directory.is_empty() || title.contains(&run.directory);
    let first = [(!is_told).then(|| run.directory.clone())].into_iter().flatten();
    let first = [title].into_iter().chain(first).collect::<Vec<_>>();
    let storage = (machine.filesystem.is_some() || machine.device.is_some()).then(|| answer::storage(run));
    let host = machine.host.map(|host| format!("host {host}"));
    let second = [storage, host, moment(run), imported::source(run)];
    [first, second.into_iter().flatten().collect::<Vec<_>>()].map(|parts| clean(&parts.join(", ")))
}

/// Start of the run: "2026-11-21 21:05".
fn moment(run: &Run) -> Option<String> {
    let minutes = run.started_at.get(..16).unwrap_or(&run.started_at).replace('T', " ");
    (!minutes.is_empty()).then_some(minutes)
}

#[cfg(test)]
mod tests {
    use super::lines;
    use crate::samples;
    use fathom_record::Run;

    #[test]
    fn it_says_where_and_when_and_leaves_out_what_is_not_known() {
        let run = samples::survey_run();
        let [what, place] = lines(&run);
        assert_eq!(what, "survey of /srv/data", "the directory is named once");
        assert_eq!(lines(&Run { label: "survey".into(), ..run.clone() })[0], "survey, /srv/data");
        assert!(place.contains("ext4 on ") && place.contains(&run.started_at[..10]), "{place}");
        let bare = Run { id: "x".into(), ..Run::default() };
        assert_eq!(lines(&bare), ["x".to_string(), String::new()]);
        let imported = lines(&samples::imported_run());
        assert!(imported[1].contains("imported from"), "{imported:?}");
    }
}
