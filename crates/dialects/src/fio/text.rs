//! A job file: lines into sections, sections into settings. Includes are read through [`World`]; what the settings mean is decided
//! elsewhere.

use super::keywords;
use super::table::{self, Row, State};
use super::{Spot, World, Wrong};
use crate::filebench::nearest;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An option with its value, as it stands somewhere.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Which option.
    pub row: &'static Row,
    /// Its value; `None` without `=`.
    pub value: Option<String>,
    /// The value's place, or the option's.
    pub spot: Spot,
}

/// A section of a job file.
#[derive(Clone, Debug)]
pub struct Section {
    /// What stands in the brackets.
    pub name: String,
    /// Its settings hold for the jobs below it.
    pub global: bool,
    /// The place of its name.
    pub spot: Spot,
    /// In the order of the file.
    pub settings: Vec<Setting>,
}

/// Files inside files; deeper ones are taken for a circle.
const DEEPEST_INCLUDE: u32 = 16;

/// Reads a job file. `source` is what it is called in errors, `path` where it lies (for includes).
///
/// # Errors
/// The first line that cannot be read.
pub fn sections(source: &str, path: &Path, text: &str, world: &World<'_>) -> Result<Vec<Section>, Wrong> {
    let mut reader = Reader { world, sections: Vec::new() };
    reader.file(source, path, text, 0)?;
    Ok(reader.sections)
}

struct Reader<'a, 'w> {
    world: &'a World<'w>,
    sections: Vec<Section>,
}

impl Reader<'_, '_> {
    fn file(&mut self, source: &str, path: &Path, text: &str, depth: u32) -> Result<(), Wrong> {
        let source: Rc<str> = source.into();
        for (number, raw) in text.lines().enumerate() {
            let content = raw.trim();
            if content.is_empty() || content.starts_with([';', '#']) {
                continue;
            }
            let at = raw.len() - raw.trim_start().len();
            let line = Line { source: &source, number: number + 1, raw: &raw.into(), at };
            match content.strip_prefix('[') {
                Some(_) if depth > 0 => {
                    return Err(Wrong::at(
                        &line.spot(0, content.len()),
                        "an included file cannot begin a section",
                    )
                    .hint("name the section in the file that includes it"));
                }
                Some(rest) => self.section(&line, rest)?,
                None => self.option(&line, content, path, depth)?,
            }
        }
        Ok(())
    }

    fn section(&mut self, line: &Line<'_>, rest: &str) -> Result<(), Wrong> {
        let Some(end) = rest.find(']') else {
            return Err(Wrong::at(&line.spot(0, rest.len() + 1), "the section's closing bracket is missing")
                .hint("[NAME] begins a job, [global] settings for all below it"));
        };
        let name = keywords::with_environment(&rest[..end], self.world);
        if name.is_empty() {
            return Err(Wrong::at(&line.spot(0, 2), "a section needs a name").hint("[NAME] begins a job"));
        }
        let global = name.starts_with("global");
        self.sections.push(Section { name, global, spot: line.spot(1, end), settings: Vec::new() });
        Ok(())
    }

    fn option(&mut self, line: &Line<'_>, content: &str, path: &Path, depth: u32) -> Result<(), Wrong> {
        // There is no quoting: a comment begins wherever its sign stands.
        let content = content[..content.find([';', '#']).unwrap_or(content.len())].trim_end();
        let expanded = keywords::with_environment(content, self.world);
        let expanded = expanded.trim();
        let whole = line.spot(0, content.len());
        let Some(job) = self.sections.last().map(|s| s.name.clone()) else {
            return Err(Wrong::at(&whole, "an option stands before the first section")
                .fio(format!("fio: option <{expanded}> outside of [] job section\n"))
                .hint("[global] or [NAME] comes first"));
        };
        if let Some(file) = expanded.strip_prefix("include").filter(|f| f.starts_with([' ', '\t'])) {
            return self.include(&whole, file.trim(), path, depth);
        }
        if expanded.is_empty() {
            return Ok(());
        }
        let spots = Spots { name: whole, value: line.value_spot(content) };
        let setting = setting(expanded, &job, &spots, self.world, Names::Whole)?;
        if let Some(section) = self.sections.last_mut() {
            section.settings.push(setting);
        }
        Ok(())
    }

    fn include(&mut self, spot: &Spot, file: &str, from: &Path, depth: u32) -> Result<(), Wrong> {
        if depth >= DEEPEST_INCLUDE {
            return Err(Wrong::at(spot, format!("more than {DEEPEST_INCLUDE} files include each other"))
                .hint("a file that includes itself never ends"));
        }
        let beside = from.parent().map(|directory| directory.join(file));
        let mut failed = String::new();
        for path in [Some(PathBuf::from(file)), beside].into_iter().flatten() {
            match (self.world.read)(&path) {
                Ok(text) => return self.file(&path.display().to_string(), &path, &text, depth + 1),
                Err(why) => failed = why,
            }
        }
        Err(Wrong::at(spot, format!("{file} cannot be included: {failed}"))
            .hint("it is looked for in the working directory, then beside the file that names it"))
    }
}

/// A line as it stands, and where its content begins.
struct Line<'a> {
    source: &'a Rc<str>,
    number: usize,
    raw: &'a Rc<str>,
    at: usize,
}

impl Line<'_> {
    fn spot(&self, from: usize, length: usize) -> Spot {
        Spot::new(self.source, self.number, self.raw, self.at + from, length)
    }

    /// The value in the content of the line, or all of it.
    fn value_spot(&self, content: &str) -> Spot {
        match content.split_once('=') {
            Some((name, value)) if !value.trim().is_empty() => {
                let blanks = value.len() - value.trim_start().len();
                self.spot(name.len() + 1 + blanks, value.trim().len())
            }
            _ => self.spot(0, content.len()),
        }
    }
}

/// Where an option and its value stand.
pub(super) struct Spots {
    pub name: Spot,
    pub value: Spot,
}

/// How options may be named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// In full, as in job files.
    Whole,
    /// By a beginning that only one has, as on the command line.
    Beginning,
}

/// `NAME=VALUE` or `NAME` as a setting of a job: the option is known, its value of its kind, and it is not refused.
pub(super) fn setting(
    text: &str,
    job: &str,
    spots: &Spots,
    world: &World<'_>,
    names: Names,
) -> Result<Setting, Wrong> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text, None),
    };
    let row = row(name, names).map_err(|why| why.wrong(text, name, job, &spots.name))?;
    let value = value
        .map(|value| keywords::with_numbers(value, world))
        .transpose()
        .map_err(|why| failed(Wrong::at(&spots.value, why), row, text, job))?;
    // What k means is settled when all settings are known; whether it is a number is not.
    row.kind.check(value.as_deref(), 1024).map_err(|why| {
        let wrong = Wrong::at(&spots.value, format!("{}: {why}", row.name));
        failed(wrong, row, text, job)
    })?;
    if !row.state.lets_pass(value.as_deref())
        && let State::Refused { why, instead, .. } = &row.state
    {
        return Err(Wrong::at(&spots.name, format!("job {job}: {} is not supported: {why}", row.name))
            .hint(format!("instead: {instead}")));
    }
    Ok(Setting { row, value, spot: spots.value.clone() })
}

fn failed(wrong: Wrong, row: &Row, text: &str, job: &str) -> Wrong {
    let said = match row.kind {
        table::Kind::Word(words) => {
            let given = text.split_once('=').map_or("", |t| t.1.trim());
            format!(
                "valid values for {}: {}\n\nfio: failed parsing {}={given}\n",
                row.name,
                words.join(" "),
                row.name
            )
        }
        _ => format!("fio: failed parsing {text}\n"),
    };
    wrong.fio(format!("{said}fio: job {job} dropped\n"))
}

/// Why a name is no option's.
enum NoRow {
    Unknown,
    Ambiguous(Vec<&'static str>),
}

fn row(name: &str, names: Names) -> Result<&'static Row, NoRow> {
    if let Some(row) = table::find(name) {
        return Ok(row);
    }
    match table::beginning_with(name).as_slice() {
        [only] if names == Names::Beginning && !name.is_empty() => Ok(only),
        several @ [_, _, ..] if names == Names::Beginning && !name.is_empty() => {
            Err(NoRow::Ambiguous(several.iter().map(|r| r.name).collect()))
        }
        _ => Err(NoRow::Unknown),
    }
}

impl NoRow {
    fn wrong(self, text: &str, name: &str, job: &str, spot: &Spot) -> Wrong {
        match self {
            Self::Ambiguous(several) => Wrong::at(
                spot,
                format!("{name:?} is the beginning of several options: {}", several.join(", ")),
            )
            .fio(format!("fio: option '--{name}' is ambiguous\n")),
            Self::Unknown => {
                let all = table::rows().flat_map(|r| std::iter::once(&r.name).chain(r.aliases).copied());
                let similar = nearest(&name.to_lowercase(), all);
                let meant = similar.map_or_else(String::new, |s| format!("Did you mean {s}?\n"));
                let wrong = Wrong::at(spot, format!("{name:?} is no option of a job"))
                    .fio(format!("Bad option <{text}>\n{meant}fio: job {job} dropped\n"));
                match similar {
                    Some(similar) => wrong.hint(format!("did you mean {similar}?")),
                    None => wrong.hint("fathom fio --cmdhelp=all lists the options"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::world;
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Vec<Section>, Wrong> {
        sections("j.fio", Path::new("dir/j.fio"), text, &world())
    }

    /// The settings of a section as text.
    fn settings(section: &Section) -> Vec<String> {
        let one = |s: &Setting| s.value.as_ref().map_or(s.row.name.into(), |v| format!("{}={v}", s.row.name));
        section.settings.iter().map(one).collect()
    }

    #[test]
    fn sections_lines_and_comments() {
        let text = "; c\n# c\n[globalx]\n rw = randread ; why\n[a job/1]\nstonewall\ndescription=a ; b\nfilename=x#y\nblocksize=4k\n";
        let found = read(text).unwrap();
        assert_eq!((found[0].global, found[1].global), (true, false));
        assert_eq!(found[1].name, "a job/1");
        assert_eq!(settings(&found[0]), ["rw=randread"]);
        assert_eq!(settings(&found[1]), ["stonewall", "description=a", "filename=x", "bs=4k"]);
    }

    #[test]
    fn variables_and_numbers_of_the_machine() {
        let found =
            read("[a]\nsize=2*$ncpus\nbs=${UNSET}4k\n${SZ}\n".replace("\n${SZ}", "").as_str()).unwrap();
        assert_eq!(settings(&found[0]), ["size=8", "bs=4k"]);
    }

    #[test]
    fn an_include_joins_the_section() {
        let found = read("[a]\ninclude more.inc\nbs=8k\n").unwrap();
        assert_eq!(settings(&found[0]), ["iodepth=4", "bs=8k"]);
        let wrong = read("[a]\ninclude section.inc\n").unwrap_err().to_string();
        assert!(wrong.contains("section.inc:1:1: an included file cannot begin a section"), "{wrong}");
        assert!(read("[a]\ninclude self.inc\n").unwrap_err().to_string().contains("include each other"));
        assert!(read("[a]\ninclude none.inc\n").unwrap_err().message.contains("none.inc"));
    }

    #[test]
    fn errors_have_a_place_and_the_words_of_fio() {
        insta::assert_snapshot!(
            [
                "rw=read\n[a]\n",
                "[a]\n  rww=read\n",
                "[a]\n\trw = raed ; no\n",
                "[a]\nRW=read\n",
                "[a]\ndirect=yes\n",
                "[a]\nbs=4.5k\n",
                "[a]\nrw=read\nzonemode=zbd\n",
                "[a]\nsize=$ncpus*\n",
                "[a\n",
                "[]\n",
            ]
            .map(|text| read(text).unwrap_err().to_string())
            .join("\n")
        );
    }

    #[test]
    fn a_beginning_is_enough_on_the_command_line_only() {
        let spot = Spot::new(&"command line".into(), 1, &"--numjob=2".into(), 0, 9);
        let spots = Spots { name: spot.clone(), value: spot };
        let with = |names| setting("numjob=2", "a", &spots, &world(), names).map(|s| s.row.name);
        assert_eq!(with(Names::Beginning).unwrap(), "numjobs");
        assert!(with(Names::Whole).is_err());
        let wrong = setting("rand=2", "a", &spots, &world(), Names::Beginning).unwrap_err();
        assert!(wrong.message.contains("several options"), "{}", wrong.message);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", lines in "(\\[[a-z]{0,3}\\]?|[a-z_]{1,6} ?=? ?[0-9a-z$%*{};#-]{0,6}|include [a-z.]{0,9})(\n(\\[[a-z]{0,3}\\]?|(rw|bs|size|bssplit|runtime)=[^\n]{0,9})){0,5}") {
            let _ = read(&text).map_err(|w| w.to_string());
            let _ = read(&lines).map_err(|w| w.to_string());
        }
    }
}
