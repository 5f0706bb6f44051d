//! Parses a job file: lines into sections, sections into settings. Includes are read through [`World`]; the settings are interpreted
//! elsewhere.

use super::keywords;
use super::table::{self, FioOption, FioSupport};
use super::{Spot, UsageError, World};
use crate::filebench::nearest;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An option with its value and position.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Table row of the option.
    pub row: &'static FioOption,
    /// Name under which fio prints the option: the row's name, except for two aliases that fio prints as written.
    pub printed_name: &'static str,
    /// `None` if there was no `=`.
    pub value: Option<String>,
    /// Position of the value, or of the option if it has none.
    pub spot: Spot,
    /// The meaning of `k` in the value, 1000 or 1024.
    pub kb_base: u64,
}

/// A section of a job file.
#[derive(Clone, Debug)]
pub struct Section {
    /// Text between the brackets.
    pub name: String,
    /// Whether the settings apply to the jobs below.
    pub global: bool,
    /// Position of the name.
    pub spot: Spot,
    /// Settings in file order.
    pub settings: Vec<Setting>,
}

/// Maximum nesting depth of includes.
const DEEPEST_INCLUDE: usize = 16;
/// Maximum number of includes of a job file, repetitions counted.
const MOST_INCLUDES: usize = 1000;
/// Some editors put it at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Maximum size of a job file with its includes, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Reads a job file. `source` is its name in errors, `path` its location (for includes). Notes on skipped parts are added to `notes`.
///
/// # Errors
/// The first line that cannot be parsed.
pub fn sections(
    source: &str,
    path: &Path,
    text: &[u8],
    world: &World<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Section>, UsageError> {
    let mut reader =
        Reader { world, sections: Vec::new(), open: Vec::new(), included: 0, bytes: 0, closed: false, notes };
    reader.file(source, path, text)?;
    Ok(reader.sections)
}

struct Reader<'a, 'w> {
    world: &'a World<'w>,
    sections: Vec<Section>,
    /// The file being read and those that include it, outermost first.
    open: Vec<PathBuf>,
    included: usize,
    bytes: usize,
    /// The last section ended at a skipped include: no setting may follow in it.
    closed: bool,
    notes: &'a mut Vec<String>,
}

impl Reader<'_, '_> {
    fn file(&mut self, source: &str, path: &Path, text: &[u8]) -> Result<(), UsageError> {
        self.bytes += text.len();
        if self.bytes > MOST_BYTES {
            return Err(UsageError::nowhere(format!(
                "{source}: job files of more than {} MiB are not read",
                MOST_BYTES >> 20
            )));
        }
        self.open.push(path.into());
        let source: Rc<str> = source.into();
        for (number, bytes) in text.split(|b| *b == b'\n').enumerate() {
            let raw = &*decoded(bytes).map_err(|at| not_utf8(&source, number + 1, bytes, at))?;
            let content = raw.trim();
            if content.is_empty() || content.starts_with([';', '#']) {
                continue;
            }
            if self.closed && self.open.len() > 1 {
                break;
            }
            let at = raw.len() - raw.trim_start().len();
            let line = RawLine { source: &source, number: number + 1, raw: &raw.into(), at };
            match content.strip_prefix('[') {
                Some(_) if self.open.len() > 1 => {
                    self.leave_out(&source);
                    break;
                }
                Some(rest) => self.section(&line, rest)?,
                None => self.option(&line, content)?,
            }
        }
        self.open.pop();
        Ok(())
    }

    fn section(&mut self, line: &RawLine<'_>, rest: &str) -> Result<(), UsageError> {
        let Some(end) = rest.find(']') else {
            return Err(UsageError::at(
                &line.spot(0, rest.len() + 1),
                "the section's closing bracket is missing",
            )
            .hint("[NAME] begins a job, [global] settings for all below it"));
        };
        let name = keywords::with_environment(&rest[..end], self.world);
        if name.is_empty() {
            return Err(
                UsageError::at(&line.spot(0, 2), "a section needs a name").hint("[NAME] begins a job")
            );
        }
        let global = name.starts_with("global");
        self.closed = false;
        self.sections.push(Section { name, global, spot: line.spot(1, end), settings: Vec::new() });
        Ok(())
    }

    /// As in fio 3.33, an included file that has sections is skipped entirely and ends the section that includes it.
    fn leave_out(&mut self, source: &str) {
        self.notes.push(format!(
            "{source}: as in fio 3.33, nothing of this file counts, because an included file cannot begin a section"
        ));
        self.closed = true;
    }

    fn option(&mut self, line: &RawLine<'_>, content: &str) -> Result<(), UsageError> {
        // There is no quoting: a comment sign always begins a comment.
        let content = content[..content.find([';', '#']).unwrap_or(content.len())].trim_end();
        let expanded = keywords::with_environment(content, self.world);
        let expanded = expanded.trim();
        let whole = line.spot(0, content.len());
        let section = self.sections.last().filter(|_| !self.closed);
        let Some(job) = section.map(|s| s.name.clone()) else {
            let outside = format!("fio: option <{expanded}> outside of [] job section\n");
            if content.starts_with(BYTE_ORDER_MARK) {
                return Err(UsageError::at(
                    &whole,
                    "a byte order mark, which editors do not show, stands before this line",
                )
                .fio(outside)
                .hint("save the file as UTF-8 without it"));
            }
            let why = if self.closed {
                "an option stands behind a file that was not included, because it begins a section"
            } else {
                "an option stands before the first section"
            };
            return Err(UsageError::at(&whole, why).fio(outside).hint("[global] or [NAME] comes first"));
        };
        if let Some(file) = expanded.strip_prefix("include").filter(|f| f.starts_with([' ', '\t'])) {
            return self.include(&whole, file.trim());
        }
        if expanded.contains(char::REPLACEMENT_CHARACTER) && !content.contains(char::REPLACEMENT_CHARACTER) {
            return Err(UsageError::at(
                &whole,
                "a variable of the environment that stands here is not UTF-8",
            ));
        }
        if expanded.is_empty() {
            return Ok(());
        }
        let spots = Spots { name: whole, value: line.value_spot(content) };
        let setting = setting(expanded, &job, &spots, self.world, Abbreviation::Whole)?;
        if let Some(section) = self.sections.last_mut() {
            section.settings.push(setting);
        }
        Ok(())
    }

    fn include(&mut self, spot: &Spot, file: &str) -> Result<(), UsageError> {
        if self.open.len() > DEEPEST_INCLUDE {
            return Err(UsageError::at(
                spot,
                format!("more than {DEEPEST_INCLUDE} files include each other"),
            ));
        }
        self.included += 1;
        if self.included > MOST_INCLUDES {
            return Err(UsageError::at(spot, format!("more than {MOST_INCLUDES} files are included")));
        }
        let beside = self.open.last().and_then(|from| from.parent()).map(|directory| directory.join(file));
        let mut failed = String::new();
        for path in [Some(PathBuf::from(file)), beside].into_iter().flatten() {
            match (self.world.read)(&path) {
                Ok(_) if self.open.contains(&path) => {
                    return Err(UsageError::at(spot, format!("{} includes itself", path.display()))
                        .hint("what it includes never ends"));
                }
                Ok(text) => {
                    let before = self.sections.last().map_or(0, |section| section.settings.len());
                    self.file(&path.display().to_string(), &path, &text)?;
                    if self.closed
                        && let Some(section) = self.sections.last_mut()
                    {
                        section.settings.truncate(before);
                    }
                    return Ok(());
                }
                Err(why) => failed = why,
            }
        }
        Err(UsageError::at(spot, format!("{file} cannot be included: {failed}"))
            .hint("it is looked for in the working directory, then beside the file that names it"))
    }
}

/// The line as text, or the position of the first invalid byte. Comments may be in any character set.
fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    let end = bytes.iter().position(|b| b";#".contains(b)).unwrap_or(bytes.len());
    match (std::str::from_utf8(bytes), std::str::from_utf8(&bytes[..end])) {
        (Ok(text), _) => Ok(text.into()),
        (Err(_), Ok(_)) => Ok(String::from_utf8_lossy(bytes)),
        (_, Err(wrong)) => Err(wrong.valid_up_to()),
    }
}

fn not_utf8(source: &Rc<str>, number: usize, bytes: &[u8], at: usize) -> UsageError {
    let shown: Rc<str> = String::from_utf8_lossy(bytes).into();
    let length = char::REPLACEMENT_CHARACTER.len_utf8();
    UsageError::at(&Spot::new(source, number, &shown, at, length), "this is not UTF-8")
        .hint("names and values are UTF-8; comments may be anything")
}

/// A raw line and the start of its content.
struct RawLine<'a> {
    source: &'a Rc<str>,
    number: usize,
    raw: &'a Rc<str>,
    at: usize,
}

impl RawLine<'_> {
    fn spot(&self, from: usize, length: usize) -> Spot {
        Spot::new(self.source, self.number, self.raw, self.at + from, length)
    }

    /// Position of the value in the line, or of the whole content.
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

/// Positions of an option and its value.
pub(super) struct Spots {
    pub name: Spot,
    pub value: Spot,
}

/// How option names may be abbreviated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// In full, as in job files.
    Whole,
    /// By a unique prefix, as on the command line.
    Beginning,
}

/// Reads `NAME=VALUE` or `NAME` as a job setting. Fails if the option is unknown, its value malformed, or it is refused.
pub(super) fn setting(
    text: &str,
    job: &str,
    spots: &Spots,
    world: &World<'_>,
    names: Abbreviation,
) -> Result<Setting, UsageError> {
    let (name, value) = match text.split_once('=') {
        // Blanks are kept in values that are only displayed, which people align in tables.
        Some((name, value)) if matches!(name.trim(), "name" | "description") => (name.trim(), Some(value)),
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text, None),
    };
    let row = row(name, names).map_err(|why| why.wrong(text, name, job, &spots.name))?;
    let value = value
        .map(|value| keywords::with_numbers(value, world))
        .transpose()
        .map_err(|why| failed(UsageError::at(&spots.value, why), row, text, job))?;
    // The meaning of k is known only when all settings are; whether the value is a number can be checked now.
    row.kind.check(value.as_deref(), 1024).map_err(|why| {
        let wrong = UsageError::at(&spots.value, format!("{}: {why}", row.name));
        failed(wrong, row, text, job)
    })?;
    if !row.state.lets_pass(value.as_deref())
        && let FioSupport::Refused { why, instead, .. } = &row.state
    {
        return Err(UsageError::at(&spots.name, format!("job {job}: {} is not supported: {why}", row.name))
            .hint(format!("instead: {instead}")));
    }
    Ok(Setting {
        row,
        printed_name: printed_name(row, name),
        value,
        spot: spots.value.clone(),
        kb_base: 1024,
    })
}

/// Aliases that are separate options in fio, which therefore prints them as written.
const PRINTED: [&str; 2] = ["allrandrepeat", "threads"];

fn printed_name(row: &'static FioOption, written: &str) -> &'static str {
    PRINTED.into_iter().find(|name| *name == written).unwrap_or(row.name)
}

fn failed(wrong: UsageError, row: &FioOption, text: &str, job: &str) -> UsageError {
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

/// Why a name is not an option.
enum NoRow {
    Unknown,
    Ambiguous(Vec<&'static str>),
}

fn row(name: &str, names: Abbreviation) -> Result<&'static FioOption, NoRow> {
    if let Some(row) = table::find(name) {
        return Ok(row);
    }
    match table::beginning_with(name).as_slice() {
        [only] if names == Abbreviation::Beginning && !name.is_empty() => Ok(only),
        several @ [_, _, ..] if names == Abbreviation::Beginning && !name.is_empty() => {
            Err(NoRow::Ambiguous(several.iter().map(|r| r.name).collect()))
        }
        _ => Err(NoRow::Unknown),
    }
}

impl NoRow {
    fn wrong(self, text: &str, name: &str, job: &str, spot: &Spot) -> UsageError {
        match self {
            Self::Ambiguous(several) => UsageError::at(
                spot,
                format!("{name:?} is the beginning of several options: {}", several.join(", ")),
            )
            .fio(format!("fio: option '--{name}' is ambiguous\n")),
            Self::Unknown => {
                let all = table::rows().flat_map(|r| std::iter::once(&r.name).chain(r.aliases).copied());
                let similar = nearest(&name.to_lowercase(), all);
                let meant = similar.map_or_else(String::new, |s| format!("Did you mean {s}?\n"));
                let wrong = UsageError::at(spot, format!("{name:?} is no option of a job"))
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

    fn read(text: &str) -> Result<Vec<Section>, UsageError> {
        sections("j.fio", Path::new("dir/j.fio"), text.as_bytes(), &world(), &mut Vec::new())
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
        assert!(
            read("[a]\ninclude self.inc\n").unwrap_err().to_string().contains("self.inc includes itself")
        );
        assert!(read("[a]\ninclude none.inc\n").unwrap_err().message.contains("none.inc"));
    }

    #[test]
    fn nothing_counts_of_an_included_file_with_a_section() {
        // Each as observed with fio 3.33.
        let mut notes = Vec::new();
        let mut of =
            |text: &str| sections("j.fio", Path::new("dir/j.fio"), text.as_bytes(), &world(), &mut notes);
        let found = of("[global]\nbs=8k\ninclude section.inc\n[a]\nrw=read\n").unwrap();
        assert_eq!(
            (settings(&found[0]), settings(&found[1])),
            (vec!["bs=8k".into()], vec!["rw=read".into()])
        );
        let wrong = of("[a]\ninclude section.inc\nbs=8k\n").unwrap_err().to_string();
        assert!(wrong.contains("option <bs=8k> outside of [] job section"), "{wrong}");
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("section.inc: as in fio"), "{notes:?}");
    }

    #[test]
    fn files_that_include_others_without_end_are_refused() {
        // Each file includes the next one twice: 2^15 includes without a cycle.
        let wrong = read("[a]\ninclude twice-0.inc\n").unwrap_err().to_string();
        assert!(wrong.contains("more than 1000 files are included"), "{wrong}");
        let wrong = read("[a]\ninclude deep-0.inc\n").unwrap_err().to_string();
        assert!(wrong.contains("deep-15.inc:1:1: more than 16 files include each other"), "{wrong}");
    }

    #[test]
    fn values_are_utf8_and_comments_need_not_be() {
        let of = |text: &[u8]| sections("j.fio", Path::new("j.fio"), text, &world(), &mut Vec::new());
        let found = of(b"[a] \n; gr\xfc\xdfe\nbs=4k # \xe4\n").unwrap();
        assert_eq!(settings(&found[0]), ["bs=4k"]);
        let wrong = of(b"[a]\nfilename=\xe4.dat\n").unwrap_err().to_string();
        assert!(wrong.contains("j.fio:2:10: this is not UTF-8"), "{wrong}");
        assert!(of(b"[\xe4]\n").is_err());
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
                "[a]\nbs=k4\n",
                "[a]\nrw=read\nprofile=g\n",
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
        assert_eq!(with(Abbreviation::Beginning).unwrap(), "numjobs");
        assert!(with(Abbreviation::Whole).is_err());
        let of = |text: &str| {
            setting(text, "a", &spots, &world(), Abbreviation::Beginning).map(|s| s.row.name).unwrap()
        };
        // fio 3.33 has one option that begins so.
        assert_eq!([of("ioeng=psync"), of("nam=b"), of("end=1")], ["ioengine", "name", "end_fsync"]);
        let wrong = setting("rand=2", "a", &spots, &world(), Abbreviation::Beginning).unwrap_err();
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
