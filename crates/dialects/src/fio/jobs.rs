//! Combines the command line and job files into jobs with all settings that apply to them.

use super::line::CommandLine;
use super::settings::{Level, Settings};
use super::text::{self, Setting};
use super::{UsageError, World};
use std::path::Path;

/// Reads the job files of a command line. Returns the settings of every job, in the order in which they run, and notes on the files.
///
/// # Errors
/// The first error found.
pub fn collect(line: &CommandLine, world: &World<'_>) -> Result<(Vec<Settings>, Vec<String>), UsageError> {
    let (mut jobs, mut notes) = (Vec::new(), Vec::new());
    let levelled =
        |level: Level, list: &[Setting]| list.iter().cloned().map(|s| (level, s)).collect::<Vec<_>>();
    let mut globals = line.globals.clone();
    let base = from_there_on(&mut globals, 1024);
    let globals = levelled(Level::CommandLine, &globals);
    for (name, spot, own) in &line.jobs {
        let (mut list, mut own) = (globals.clone(), own.clone());
        from_there_on(&mut own, base);
        list.extend(levelled(Level::Own, &own));
        jobs.push(Settings::new(name, spot, list)?);
    }
    for (number, file) in line.files.iter().enumerate() {
        let text = (world.read)(Path::new(file)).map_err(|why| {
            let wrong = UsageError::nowhere(format!("{file} cannot be read: {why}"))
                .fio(format!("fio: unable to open '{file}' job file\n"));
            match meant(file) {
                Some(option) => wrong.hint(format!("a word without dashes is a job file: {option}?")),
                None => wrong,
            }
        })?;
        let name = if file == "-" { "stdin" } else { file };
        let (mut above, mut base_above) = (globals.clone(), base);
        let mut first = number > 0;
        for mut section in text::sections(name, Path::new(file), &text, world, &mut notes)? {
            let base = whole_section(&mut section.settings, base_above);
            if section.global {
                base_above = base;
                above.extend(levelled(Level::Global, &section.settings));
                continue;
            }
            if !line.general.sections.is_empty() && !line.general.sections.contains(&section.name) {
                continue;
            }
            let mut list = above.clone();
            list.extend(levelled(Level::Own, &section.settings));
            let mut settings = Settings::new(&section.name, &section.spot, list)?;
            settings.begins_file = std::mem::take(&mut first);
            jobs.push(settings);
        }
    }
    if jobs.is_empty() {
        let sections = &line.general.sections;
        let hint = if sections.is_empty() {
            "fathom fio --help lists the options; a job file has a section [NAME] for each job".to_owned()
        } else {
            format!("no section is named {}", sections.join(" or "))
        };
        return Err(UsageError::nowhere("there is no job").fio("No job(s) defined\n\n").hint(hint));
    }
    Ok((jobs, notes))
}

/// The option that was probably meant by a word that is not a job file.
fn meant(word: &str) -> Option<String> {
    let name = word.split_once('=').map(|(name, _)| name);
    if name.is_some_and(|name| super::table::find(name).is_some()) {
        return Some(format!("--{word}"));
    }
    word.starts_with("/dev/").then(|| format!("--filename={word}"))
}

/// The value of `kb_base`, if it parses; errors are reported later.
fn base_said(setting: &Setting) -> Option<u64> {
    let value = setting.value.as_deref().filter(|_| setting.row.name == "kb_base")?;
    Some(if value.trim() == "1000" { 1000 } else { 1024 })
}

/// As in fio 3.42, `kb_base` on a command line applies to the options to its right. Returns the last value.
fn from_there_on(settings: &mut [Setting], mut base: u64) -> u64 {
    for setting in settings {
        base = base_said(setting).unwrap_or(base);
        setting.kb_base = base;
    }
    base
}

/// As in fio 3.42, `kb_base` in a section applies to the whole section, but not to inherited settings.
fn whole_section(settings: &mut [Setting], above: u64) -> u64 {
    let base = settings.iter().rev().find_map(base_said).unwrap_or(above);
    settings.iter_mut().for_each(|setting| setting.kb_base = base);
    base
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::super::tests::world;
    use super::*;

    fn jobs(text: &str) -> Vec<Settings> {
        let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let world = world();
        collect(&line::read(&args, &world).unwrap(), &world).unwrap().0
    }

    #[test]
    fn the_nearest_setting_counts() {
        // two.fio: [global] bs=8k rw=randread [g1] [g2] bs=16k [global] bs=32k [g3]
        let found = jobs("--bs=64k --size=1m --name=c --size=2m two.fio two.fio");
        let values: Vec<(String, &str, &str)> = found
            .iter()
            .map(|s| (s.job.clone(), s.text("bs").unwrap_or(""), s.text("size").unwrap_or("")))
            .collect();
        let expected = [("c", "64k", "2m"), ("g1", "8k", "1m"), ("g2", "16k", "1m"), ("g3", "32k", "1m")];
        for (found, (job, bs, size)) in values.iter().zip(expected) {
            assert_eq!((found.0.as_str(), found.1, found.2), (job, bs, size));
        }
        assert_eq!(
            found.iter().map(|s| s.begins_file).collect::<Vec<_>>(),
            [false, false, false, false, true, false, false]
        );
    }

    #[test]
    fn kb_base_holds_for_what_follows_it_or_for_its_section() {
        // Sizes from fio 3.42.
        let sizes = |line: &str| -> Vec<u64> {
            let all = jobs(line);
            all.iter().map(|s| s.number("size").unwrap().unwrap()).collect()
        };
        for (line, bytes) in [
            ("--name=a --size=64k --kb_base=1000", vec![65536]),
            ("--name=a --kb_base=1000 --size=64k", vec![64000]),
            ("--kb_base=1000 --name=a --size=64k", vec![64000]),
            ("--size=64k --kb_base=1000 --name=a", vec![65536]),
            ("--size=64k --name=a --kb_base=1000 --name=b", vec![65536, 65536]),
            // kb.fio: [global] size=64k kb_base=1000 [a] [b] size=8k kb_base=1024 [c] size=8k
            ("kb.fio", vec![64000, 8192, 8000]),
        ] {
            assert_eq!(sizes(line), bytes, "{line}");
        }
        let all = jobs("--kb_base=1000 two.fio");
        assert_eq!(all[1].number("bs").unwrap(), Some(16000));
    }

    #[test]
    fn sections_can_be_chosen_and_nothing_is_an_error() {
        assert_eq!(jobs("--section=g2 two.fio").len(), 1);
        let world = world();
        let none = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
            collect(&line::read(&args, &world).unwrap(), &world).unwrap_err().to_string()
        };
        assert!(none(&["--bs=4k"]).starts_with("No job(s) defined\n"));
        assert!(none(&["--section=x", "two.fio"]).contains("no section is named x"));
        assert!(none(&["missing.fio"]).contains("missing.fio cannot be read"));
        assert!(!none(&["missing.fio"]).contains("hint"));
        for (word, option) in [("numjobs=4", "--numjobs=4"), ("/dev/none", "--filename=/dev/none")] {
            let hint = format!("hint: a word without dashes is a job file: {option}?");
            assert!(none(&["--size=1m", word]).contains(&hint), "{}", none(&[word]));
        }
    }
}
