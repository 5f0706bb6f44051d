//! The Phoronix Test Suite's composite.xml: a run per system, a cell per test, a repetition per execution.

use super::Block;
use super::cell::{cell, directed, figure, run};
use super::context::Context;
use super::lines::{Lines, number};
use super::several;
use super::units::{Prefix, Unit, unit};
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, NS, OPS_PER_S, UNKNOWN};
use fathom_record::{Figure, Phase, Repetition, Run};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::json;

const ROOT: &str = "<PhoronixTestSuite>";
const END: &str = "</PhoronixTestSuite>";

/// A document that begins at this line.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let first = lines.document(at).next()?;
    let begin = first.find(ROOT)?;
    let mut text = first[begin..].to_owned();
    let mut ended = text.contains(END);
    for line in lines.document(at).skip(1) {
        // A nested root begins the next document.
        if ended || line.contains(ROOT) {
            break;
        }
        text.push('\n');
        text.push_str(line);
        ended = line.contains(END);
    }
    if !ended && lines.document_is_cut() {
        return Some(Block { last: at, too_long: true, ..Block::default() });
    }
    let mut read = Document::default();
    let whole = walk(&text, &mut read);
    let last = at + read.line;
    let mut partly: Vec<usize> = read.unread.iter().map(|line| at + line).collect();
    partly.retain(|line| *line <= last);
    let tests = read.tests;
    let runs = read.runs(at);
    if runs.is_empty() {
        return None;
    }
    let cut = if whole { "" } else { ", cut off" };
    let what =
        format!("Phoronix Test Suite, {} of {}{cut}", several(tests, "test"), several(runs.len(), "system"));
    Some(Block { last, what, runs, partly, is_document: true, ..Block::default() })
}

/// The document as far as read; lines count from its beginning.
#[derive(Default)]
struct Document {
    title: String,
    client: String,
    systems: Vec<System>,
    test: PhoronixTest,
    entry: SystemFigure,
    tests: usize,
    /// Cells, each with its system.
    cells: Vec<(String, Vec<Repetition>, String)>,
    /// Lines of values that are not numbers, and of tests without a value.
    unread: Vec<usize>,
    /// The last line understood.
    line: usize,
}

#[derive(Clone, Default)]
struct System {
    identifier: String,
    hardware: String,
    software: String,
    time: String,
}

/// Description of a test, which precedes its figures.
#[derive(Default)]
struct PhoronixTest {
    identifier: String,
    title: String,
    description: String,
    scale: String,
    proportion: String,
}

/// A figure for one system.
#[derive(Default)]
struct SystemFigure {
    system: String,
    value: String,
    each: String,
    line: usize,
}

/// Parses a document. Returns whether it was complete.
fn walk(text: &str, read: &mut Document) -> bool {
    let mut reader = Reader::from_str(text);
    let (mut path, mut words) = (Vec::<String>::new(), String::new());
    let (mut seen, mut line) = (0usize, 0usize);
    while let Ok(event) = reader.read_event() {
        let position = (reader.buffer_position() as usize).min(text.len());
        line += text.as_bytes()[seen..position].iter().filter(|b| **b == b'\n').count();
        seen = position;
        match event {
            Event::Start(tag) => {
                path.push(tag.name().as_ref().to_owned());
                words.clear();
                read.begin(&path.iter().map(String::as_str).collect::<Vec<_>>(), line);
            }
            Event::Text(part) => words.push_str(&part),
            Event::CData(part) => words.push_str(&part),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(letter)) => words.push(letter),
                _ => {
                    let known = quick_xml::escape::resolve_predefined_entity(&name);
                    words.push_str(known.unwrap_or_default());
                }
            },
            Event::End(_) => {
                read.end(&path.iter().map(String::as_str).collect::<Vec<_>>(), words.trim());
                read.line = line;
                words.clear();
                path.pop();
                if path.is_empty() {
                    return true;
                }
            }
            Event::Eof => return false,
            _ => {}
        }
    }
    false
}

impl Document {
    fn begin(&mut self, path: &[&str], line: usize) {
        match path {
            ["PhoronixTestSuite", "System"] => self.systems.push(System::default()),
            ["PhoronixTestSuite", "Result"] => self.test = PhoronixTest::default(),
            ["PhoronixTestSuite", "Result", "Data", "Entry"] => {
                self.entry = SystemFigure { line, ..SystemFigure::default() }
            }
            ["PhoronixTestSuite", "Result", "Data", "Entry", "Value"] => self.entry.line = line,
            _ => {}
        }
    }

    fn end(&mut self, path: &[&str], words: &str) {
        let ["PhoronixTestSuite", path @ ..] = path else { return };
        let place = match (path, self.systems.last_mut()) {
            (["Generated", "Title"], _) => &mut self.title,
            (["Generated", "TestClient"], _) => &mut self.client,
            (["System", "Identifier"], Some(system)) => &mut system.identifier,
            (["System", "Hardware"], Some(system)) => &mut system.hardware,
            (["System", "Software"], Some(system)) => &mut system.software,
            (["System", "TimeStamp"], Some(system)) => &mut system.time,
            (["Result", "Identifier"], _) => &mut self.test.identifier,
            (["Result", "Title"], _) => &mut self.test.title,
            (["Result", "Description"], _) => &mut self.test.description,
            (["Result", "Scale"], _) => &mut self.test.scale,
            (["Result", "Proportion"], _) => &mut self.test.proportion,
            (["Result", "Data", "Entry", "Identifier"], _) => &mut self.entry.system,
            (["Result", "Data", "Entry", "Value"], _) => &mut self.entry.value,
            (["Result", "Data", "Entry", "RawString"], _) => &mut self.entry.each,
            (["Result", "Data", "Entry"], _) => {
                self.take();
                return;
            }
            (["Result"], _) => {
                self.tests += 1;
                return;
            }
            _ => return,
        };
        words.clone_into(place);
    }

    /// Stores the entry just completed.
    fn take(&mut self) {
        let entry = std::mem::take(&mut self.entry);
        let Some(value) = decimal(&entry.value) else {
            // "PASS", a sensor series, or an empty value of a failed test.
            self.unread.push(entry.line);
            return;
        };
        let each: Option<Vec<(f64, &str)>> =
            entry.each.split(':').map(|word| decimal(word).map(|value| (value, word))).collect();
        let mut repetitions: Vec<Repetition> = match each {
            Some(each) if each.len() > 1 => (0u32..)
                .zip(each)
                .map(|(n, (value, word))| {
                    let figures = vec![self.test.figure("", value, word, entry.line)];
                    Repetition { n, figures, ..Repetition::default() }
                })
                .collect(),
            _ => Vec::new(),
        };
        // With several repetitions the value is their mean, which is stored once, in the last.
        match repetitions.last_mut() {
            Some(last) => last.figures.push(self.test.figure(" avg", value, &entry.value, entry.line)),
            None => repetitions.push(Repetition {
                figures: vec![self.test.figure("", value, &entry.value, entry.line)],
                ..Repetition::default()
            }),
        }
        self.cells.push((entry.system, repetitions, self.test.name()));
    }

    /// A run for each system, in order of their figures.
    fn runs(self, at: usize) -> Vec<Run> {
        let mut of_systems: Vec<(String, Vec<Phase>)> = Vec::new();
        for (system, mut repetitions, name) in self.cells {
            for figure in repetitions.iter_mut().flat_map(|r| &mut r.figures) {
                figure.line += at as u64;
            }
            let phase = Phase { repetitions, ..directed(cell(&name)) };
            match of_systems.iter_mut().find(|(name, _)| *name == system) {
                Some((_, phases)) => phases.push(phase),
                None => of_systems.push((system, vec![phase])),
            }
        }
        let made = |(name, phases): (String, Vec<Phase>)| {
            let program = if self.client.is_empty() { "phoronix" } else { &self.client };
            let mut run = run("phoronix", program.to_owned(), phases);
            let label = [self.title.as_str(), name.as_str()];
            run.label = label.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            if let Some(system) = self.systems.iter().find(|system| system.identifier == name) {
                run.environment = json!({ "hardware": system.hardware, "software": system.software });
                run.started_at = moment(&system.time).unwrap_or_default();
            }
            run
        };
        of_systems.into_iter().map(made).collect()
    }
}

impl PhoronixTest {
    /// "Flexible IO Tester: Type: Random Read - Block Size: 4KB".
    fn name(&self) -> String {
        let title = if self.title.is_empty() { &self.identifier } else { &self.title };
        let parts = [title.as_str(), self.description.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }

    fn figure(&self, which: &str, value: f64, printed: &str, line: usize) -> Figure {
        let scale = self.scale.to_lowercase();
        let word = match scale.as_str() {
            "milliseconds" => "ms",
            "microseconds" => "us",
            "nanoseconds" => "ns",
            scale => scale,
        };
        // Its IOzone test divides IOzone's KB by 1024. In other tests MB may be 1000 or 1024 KB or KiB, depending on the program.
        let has_one_meaning = self.identifier.contains("/iozone-") || word.contains("ib/");
        let known = unit(word, Prefix::Binary)
            .filter(|u| !word.is_empty() && (u.base != BYTES_PER_S && u.base != BYTES || has_one_meaning));
        let Unit { base, factor } = known.unwrap_or(Unit { base: UNKNOWN, factor: 1.0 });
        let name = match base {
            BYTES_PER_S => THROUGHPUT,
            OPS_PER_S => OPERATIONS,
            NS => TIME,
            _ if self.scale.is_empty() => "result",
            _ => &self.scale,
        };
        let printed = format!("{} {}", printed.trim(), self.scale).trim_end().to_owned();
        let mut figure = figure(&format!("{name}{which}"), value * factor, base, printed, line);
        figure.higher_is_better = match self.proportion.as_str() {
            "HIB" => Some(true),
            "LIB" => Some(false),
            _ => None,
        };
        figure
    }
}

/// A number, possibly like "1.5E-5".
fn decimal(word: &str) -> Option<f64> {
    let word = word.trim();
    number(word).or_else(|| {
        let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
        let value: f64 = Some(word).filter(|w| w.len() <= 40 && w.chars().all(digits))?.parse().ok()?;
        value.is_finite().then_some(value)
    })
}

/// "2020-05-16 10:30:00" as a timestamp with unknown UTC offset.
fn moment(time: &str) -> Option<String> {
    let time: jiff::civil::DateTime = time.parse().ok()?;
    Some(format!("{}-00:00", time.strftime("%Y-%m-%dT%H:%M:%S")))
}
