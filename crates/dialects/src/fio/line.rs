//! The command line: general options, jobs, and job files.

use super::error::COMMAND_LINE;
use super::general::{self, General, TakesValue};
use super::text::{Abbreviation, Setting, Spots, setting};
use super::{Spot, UsageError, World, table};
use std::rc::Rc;

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// General options, which belong to no job.
    pub general: General,
    /// Settings before the first job, and after `--name=global`.
    pub globals: Vec<Setting>,
    /// Jobs of the command line: name, position, and settings.
    pub jobs: Vec<(String, Spot, Vec<Setting>)>,
    /// Job files; `-` is stdin.
    pub files: Vec<String>,
}

/// Reads a command line, without the program's name.
///
/// # Errors
/// The first word that cannot be parsed.
pub fn read(args: &[String], world: &World<'_>) -> Result<CommandLine, UsageError> {
    let mut line = CommandLine::default();
    let source: Rc<str> = COMMAND_LINE.into();
    let mut words = args.iter().enumerate();
    // A job is open until the next --name; before the first, and after --name=global, options are global.
    let mut open = false;
    let mut only_files = false;
    while let Some((number, word)) = words.next() {
        if only_files || word == "-" || !word.starts_with('-') {
            line.files.push(word.clone());
            continue;
        }
        if word == "--" {
            only_files = true;
            continue;
        }
        let text = word.trim_start_matches('-');
        let (name, mut value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let name = if word.starts_with("--") { name } else { general::short(name) };
        let shown: Rc<str> = word.as_str().into();
        let at = |from: usize, length: usize| Spot::new(&source, number + 1, &shown, from, length);
        if let Some((general, takes)) = general::find(name) {
            if takes == TakesValue::Needed && value.is_none() {
                value = words.next().map(|w| w.1.clone());
            }
            if takes == TakesValue::Needed && value.is_none() {
                return Err(UsageError::at(&at(0, word.len()), format!("--{general} needs a value")));
            }
            line.general.set(general, value, &at(0, word.len()))?;
            continue;
        }
        let row = table::find(name).or_else(|| match table::beginning_with(name).as_slice() {
            [only] if !name.is_empty() => Some(*only),
            _ => None,
        });
        let mut shown_word = word.clone();
        if row.is_some_and(|r| r.kind.takes_next_word()) && value.is_none() {
            value = words.next().map(|w| w.1.clone());
            if let Some(value) = &value {
                shown_word = format!("{word}={value}");
            }
        }
        let shown: Rc<str> = shown_word.as_str().into();
        let dashes = word.len() - text.len();
        let equals = dashes + name.len() + 1;
        let spots = Spots {
            name: Spot::new(&source, number + 1, &shown, 0, dashes + name.len()),
            value: Spot::new(&source, number + 1, &shown, equals, value.as_ref().map_or(1, String::len)),
        };
        let job = line.jobs.last().filter(|_| open).map_or("global", |j| j.0.as_str()).to_owned();
        let whole = value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"));
        let setting = setting(&whole, &job, &spots, world, Abbreviation::Beginning)?;
        if setting.row.name == "name" {
            let name = setting.value.clone().unwrap_or_default();
            open = name != "global";
            if open {
                line.jobs.push((name, spots.value, Vec::new()));
            } else {
                // It names no job, but fio lists it among the global options.
                line.globals.push(setting);
            }
            continue;
        }
        match line.jobs.last_mut() {
            Some(job) if open => job.2.push(setting),
            _ => line.globals.push(setting),
        }
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::super::general::{Format, Help};
    use super::super::tests::world;
    use super::*;

    fn line(text: &str) -> Result<CommandLine, UsageError> {
        let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        read(&args, &world())
    }

    #[test]
    fn jobs_end_at_the_next_name() {
        let line = line(
            "--bs=64k --name=a --rw=read -iodepth 4 --name=global --size=1m --name b --time_based j.fio -",
        )
        .unwrap();
        let names = |s: &[Setting]| s.iter().map(|s| s.row.name).collect::<Vec<_>>();
        assert_eq!(names(&line.globals), ["bs", "name", "size"]);
        assert_eq!(names(&line.jobs[0].2), ["rw", "iodepth"]);
        assert_eq!((line.jobs[1].0.as_str(), names(&line.jobs[1].2)), ("b", vec!["time_based"]));
        assert_eq!(line.files, ["j.fio", "-"]);
    }

    #[test]
    fn an_option_swallows_the_next_word() {
        let found = line("--name=a --filename --direct=1").unwrap();
        assert_eq!(found.jobs[0].2[0].value.as_deref(), Some("--direct=1"));
    }

    #[test]
    fn general_options() {
        let found =
            line("--output-format=json,normal --output=o --parse-only --section=a --section=b --eta never j")
                .unwrap();
        assert_eq!(found.general.formats, [Format::Json, Format::Normal]);
        assert_eq!((found.general.parse_only, found.general.eta), (true, Some(false)));
        assert_eq!(found.general.sections, ["a", "b"]);
        assert_eq!(line("--minimal").unwrap().general.formats, [Format::Terse]);
        assert_eq!(line("--cmdhelp=rw").unwrap().general.help, Some(Help::Options(Some("rw".into()))));
    }

    #[test]
    fn mistakes_name_their_word() {
        let wrong = |text| line(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                "--name=a --rw=raed",
                "--rww=read",
                "--output",
                "--client=h",
                "--output-format=xml",
                "--name=a --rand=1",
                "--name=a --profile=g"
            ]
            .map(wrong)
            .join("\n")
        );
    }
}
