//! Shell commands before and after a job: `exec_prerun` and `exec_postrun`. As in fio, output goes to `JOB.prerun.txt` and
//! `JOB.postrun.txt`; it is appended, so no existing text is lost.

use super::super::UsageError;
use super::super::general::General;
use super::super::settings::Settings;
use super::Notes;
use fathom_workload::Action;

/// The commands of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Runs after the files are laid out, before the page cache is dropped and the clock starts.
    pub before: Option<Action>,
    /// Runs after the job, before its files are removed.
    pub after: Option<Action>,
}

/// Runs `$2` and appends its output to `$1`.
const SCRIPT: &str =
    r#"test ! -h "$1" || { echo "$1 is a symbolic link" >&2; exit 1; }; exec >>"$1" 2>&1; eval "$2""#;

/// Reads the options.
pub fn read(s: &Settings, general: &General, clones: u32, notes: &mut Notes) -> Result<Commands, UsageError> {
    let mut one = |name: &'static str, word: &str| -> Result<Option<Action>, UsageError> {
        let Some(command) = s.text(name) else { return Ok(None) };
        if general.read_only {
            return Err(s.wrong(name, format!("{name}: --readonly runs no commands")));
        }
        let file = format!("{}.{word}.txt", s.report_name());
        let once = if clones > 1 { "; it runs once for all clones (in fio once for each)" } else { "" };
        notes.say(format!("{name}: the command's output is appended to {file}{once}"));
        let words = ["/bin/sh", "-c", SCRIPT, "sh", file.as_str(), command];
        Ok(Some(Action::Command(words.map(str::to_owned).into())))
    };
    Ok(Commands { before: one("exec_prerun", "prerun")?, after: one("exec_postrun", "postrun")? })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::Action;

    fn kinds(actions: &[Action]) -> Vec<&'static str> {
        let kind = |action: &Action| match action {
            Action::Command(_) => "command",
            Action::Remove(_) => "remove",
            Action::Evict(_) => "evict",
            _ => "make",
        };
        actions.iter().map(kind).collect()
    }

    #[test]
    fn they_stand_between_laying_out_and_the_clock() {
        let plan = planned(
            "--name=a --size=1m --rw=write --verify=md5 --unlink=1 --exec_prerun=date --exec_postrun=date \
             --name=b --size=1m --rw=read --invalidate=0",
        );
        let [first, back] = plan.workload.phases.as_slice() else {
            panic!("{} phases", plan.workload.phases.len())
        };
        assert_eq!(kinds(&first.before), ["make", "make", "command", "evict"]);
        assert_eq!(kinds(&first.after), [""; 0]);
        assert_eq!(kinds(&back.before), [""; 0]);
        assert_eq!(kinds(&back.after), ["command", "remove"]);
        let Some(Action::Command(words)) = first.before.get(2) else { panic!("no command") };
        assert_eq!(words[4..], ["a.prerun.txt", "date"]);
    }

    #[test]
    fn who_only_reads_runs_none() {
        let wrong = refused("--readonly --name=a --filename=there --rw=read --exec_prerun=date");
        assert!(wrong.contains("--readonly runs no commands"), "{wrong}");
    }
}
