//! The journal: JSON lines. The first is the plan; each further one says that a sync of a file has returned, and up to which write.

use super::plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct FirstLine {
    fathom_power_cut: u32,
    #[serde(flatten)]
    plan: Plan,
}

/// A sync that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
pub fn head(plan: &Plan) -> String {
    let head = FirstLine { fathom_power_cut: VERSION, plan: plan.clone() };
    serde_json::to_string(&head).unwrap_or_default() + "\n"
}

impl Acknowledged {
    /// Its line.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl Journal {
    /// Parses a journal. Lines that are not of it are passed over: kernel messages of a serial console, a last line that is cut off.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = || text.lines().map(str::trim).enumerate();
        let found =
            lines().find_map(|(number, line)| Some((number, serde_json::from_str::<FirstLine>(line).ok()?)));
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
            if serde_json::from_str::<FirstLine>(line).is_ok() {
                return Err(format!(
                    "line {}: a second journal begins here; keep each in a separate file",
                    number + 1
                ));
            }
            let Ok(one) = serde_json::from_str::<Acknowledged>(line) else { continue };
            let of_file = synced.entry(one.file).or_default();
            let last = of_file.last().map(|last| last.write);
            if one.file >= head.plan.files || last.is_some_and(|last| one.write <= last) {
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
        let one = |file, write, ms| Acknowledged { file, write, ms }.line();
        head(&plan(Pattern::Overwrite)) + &one(0, 0, 1) + &one(1, 0, 1) + &one(0, 4, 2) + &one(0, 8, 5)
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
    }

    #[test]
    fn what_is_no_journal_is_refused_with_its_line() {
        let why = |text: &str| Journal::parse(text).unwrap_err();
        assert!(why("").contains("fathom power-cut write"));
        assert!(why(&(text() + &text())).contains("line 6: a second journal"));
        assert!(why(&(text() + "{\"file\":0,\"write\":8,\"ms\":9}")).contains("line 6: "));
        assert!(why(&(text() + "{\"file\":9,\"write\":8,\"ms\":9}")).contains("line 6: "));
        assert!(
            why(&text().replacen("\"fathom_power_cut\":1", "\"fathom_power_cut\":2", 1))
                .contains("version 2")
        );
        assert!(why(&text().replacen("\"block\":1024", "\"block\":1000", 1)).contains("line 1: --block"));
    }
}
