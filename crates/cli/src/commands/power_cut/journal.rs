//! The journal: JSON lines. The first is the plan; each further one says that a sync of a file has returned, and up to which write.
//! Each has a checksum, since a serial console may lose characters.

use super::plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// More writes to a file take days.
const MOST_WRITES: u64 = 1 << 36;
/// Version of the format.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct FirstLine {
    fathom_power_cut: u32,
    #[serde(flatten)]
    plan: Plan,
    crc: u32,
}

/// A line of a sync.
#[derive(Debug, Serialize, Deserialize)]
struct SyncLine {
    #[serde(flatten)]
    acknowledged: Acknowledged,
    crc: u32,
}

/// A sync that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The file.
    pub file: u32,
    /// Number of the last write that it covers; 0: the file was laid out.
    pub write: u64,
    /// When it returned, ms after the start.
    pub ms: u64,
}

/// What a journal holds.
#[derive(Debug, PartialEq)]
pub struct Journal {
    pub plan: Plan,
    /// The syncs of each file, in order.
    pub synced: BTreeMap<u32, Vec<Acknowledged>>,
}

/// The first line.
///
/// # Errors
/// A directory whose name is not UTF-8.
pub fn head(plan: &Plan) -> serde_json::Result<String> {
    let head = FirstLine { fathom_power_cut: VERSION, plan: plan.clone(), crc: plan_sum(plan)? };
    Ok(serde_json::to_string(&head)? + "\n")
}

fn plan_sum(plan: &Plan) -> serde_json::Result<u32> {
    Ok(crc32fast::hash(&serde_json::to_vec(plan)?))
}

impl Acknowledged {
    /// Its line.
    pub fn line(&self, plan: &Plan) -> String {
        let line = SyncLine { acknowledged: *self, crc: self.sum(plan) };
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    }

    fn sum(&self, plan: &Plan) -> u32 {
        crc32fast::hash(format!("{} {} {} {}", plan.run, self.file, self.write, self.ms).as_bytes())
    }

    /// The sync of a line, if the line is whole.
    fn parse(line: &str, plan: &Plan) -> Option<Self> {
        let line = serde_json::from_str::<SyncLine>(line).ok()?;
        (line.crc == line.acknowledged.sum(plan)).then_some(line.acknowledged)
    }
}

impl Journal {
    /// Parses a journal. Lines that are not of it, or not whole, are passed over: kernel messages of a serial console, a last line that
    /// is cut off.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = || text.lines().map(str::trim).enumerate();
        let as_first = |line: &str| {
            let head = serde_json::from_str::<FirstLine>(line).ok()?;
            (plan_sum(&head.plan).ok()? == head.crc).then_some(head)
        };
        let found = lines().find_map(|(number, line)| Some((number, as_first(line)?)));
        let Some((first, head)) = found else {
            return Err(
                "no line is the first one of a journal: the output of `fathom power-cut write` is expected"
                    .into(),
            );
        };
        if head.fathom_power_cut != VERSION {
            return Err(format!(
                "line {}: version {} of the journal; this fathom reads version {VERSION}",
                first + 1,
                head.fathom_power_cut
            ));
        }
        if let Some(why) = head.plan.error() {
            return Err(format!("line {}: {why}", first + 1));
        }
        let mut synced: BTreeMap<u32, Vec<Acknowledged>> = BTreeMap::new();
        for (number, line) in lines().skip(first + 1) {
            if as_first(line).is_some() {
                return Err(format!(
                    "line {}: a second journal begins here; keep each in a separate file",
                    number + 1
                ));
            }
            let Some(one) = Acknowledged::parse(line, &head.plan) else { continue };
            let of_file = synced.entry(one.file).or_default();
            let last = of_file.last().map(|last| last.write);
            let ends = head.plan.last().unwrap_or(MOST_WRITES);
            if one.file >= head.plan.files || one.write > ends || last.is_some_and(|last| one.write <= last) {
                return Err(format!("line {}: {line} cannot follow what is before it", number + 1));
            }
            of_file.push(one);
        }
        Ok(Self { plan: head.plan, synced })
    }

    /// Number of the last acknowledged write of a file; `None`: not even its layout was.
    pub fn last(&self, file: u32) -> Option<u64> {
        self.synced.get(&file)?.last().map(|last| last.write)
    }

    /// The sync that acknowledged a write, and its number among those of the file.
    pub fn acknowledged(&self, file: u32, write: u64) -> Option<(usize, Acknowledged)> {
        let of_file = self.synced.get(&file)?;
        let at = of_file.partition_point(|one| one.write < write);
        Some((at, *of_file.get(at)?))
    }

    /// Syncs that returned after writes.
    pub fn syncs(&self) -> usize {
        self.synced.values().flatten().filter(|one| one.write > 0).count()
    }

    /// Acknowledged writes of all files.
    pub fn writes(&self) -> u64 {
        self.synced.keys().filter_map(|file| self.last(*file)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Pattern;
    use super::super::plan::tests::plan;
    use super::*;

    fn text() -> String {
        let plan = plan(Pattern::Overwrite);
        let one = |file, write, ms| Acknowledged { file, write, ms }.line(&plan);
        head(&plan).unwrap() + &one(0, 0, 1) + &one(1, 0, 1) + &one(0, 4, 2) + &one(0, 8, 5)
    }

    #[test]
    fn a_journal_is_read_back_through_the_noise_of_a_console() {
        let journal = Journal::parse(&text()).unwrap();
        assert_eq!(journal.plan, plan(Pattern::Overwrite));
        assert_eq!((journal.last(0), journal.last(1), journal.last(2)), (Some(8), Some(0), None));
        assert_eq!((journal.syncs(), journal.writes()), (2, 8));
        assert_eq!(journal.acknowledged(0, 5), Some((2, Acknowledged { file: 0, write: 8, ms: 5 })));
        assert_eq!(journal.acknowledged(0, 9), None);
        let noisy = format!("login:\r\n{}[ 1.0] usb 1-1\r\n{{\"file\":0,\"wri", text().replace('\n', "\r\n"));
        assert_eq!(Journal::parse(&noisy).unwrap(), journal);
        // A console has lost a digit.
        let damaged = text().replacen("\"write\":8", "\"write\":80", 1);
        assert_ne!(damaged, text());
        assert_eq!(Journal::parse(&damaged).unwrap().last(0), Some(4));
    }

    #[test]
    fn what_is_no_journal_is_refused_with_its_line() {
        let why = |text: &str| Journal::parse(text).unwrap_err();
        assert!(why("").contains("fathom power-cut write"));
        assert!(why(&(text() + &text())).contains("line 6: a second journal"));
        let given = plan(Pattern::Overwrite);
        for (file, write) in [(0, 8), (9, 9), (0, u64::MAX)] {
            let line = Acknowledged { file, write, ms: 9 }.line(&given);
            assert!(why(&(text() + &line)).contains("line 6: "), "{line}");
        }
        assert!(
            why(&text().replacen("\"fathom_power_cut\":1", "\"fathom_power_cut\":2", 1))
                .contains("version 2")
        );
        let wrong = super::super::plan::Plan { block: 1000, ..given };
        assert!(why(&head(&wrong).unwrap()).contains("line 1: --block"));
    }
}
