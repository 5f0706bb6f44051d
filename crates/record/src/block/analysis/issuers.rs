//! Who issued requests: task names without the numbers that only distinguish threads of one kind, and the I/O of each. Bounded,
//! since names come from outside.

use super::super::activity::{Issuer, IssuerKind, RequestClass};
use super::super::event::{BlockEvent, TASK_NAME_BYTES};
use std::collections::HashMap;

/// Maximum number of issuers per device; later ones share one entry per kind.
const ISSUERS_MAX: usize = 64;
/// Maximum number of spellings (with numbers) remembered.
const SPELLINGS_MAX: usize = 1024;
/// Name of the shared entry for the rest.
const REST: &str = "(more)";

type Spelling = (IssuerKind, [u8; TASK_NAME_BYTES]);

#[derive(Default)]
pub(super) struct Issuers {
    all: Vec<Issuer>,
    known: HashMap<Spelling, u16>,
    /// The last issuer: most likely the next one too.
    last: Option<(Spelling, u16)>,
}

impl Issuers {
    #[inline]
    pub(super) fn number(&mut self, kind: IssuerKind, event: &BlockEvent) -> u16 {
        let spelling = (kind, event.task);
        if let Some((last, number)) = self.last
            && last == spelling
        {
            return number;
        }
        let number = match self.known.get(&spelling) {
            Some(&number) => number,
            None => self.learn(spelling, &event.task_name()),
        };
        self.last = Some((spelling, number));
        number
    }

    fn learn(&mut self, spelling: Spelling, name: &str) -> u16 {
        let name = without_numbers(spelling.0, name);
        let number = self.entry(spelling.0, name);
        if self.known.len() >= SPELLINGS_MAX {
            self.known.clear();
        }
        self.known.insert(spelling, number);
        number
    }

    fn entry(&mut self, kind: IssuerKind, name: &str) -> u16 {
        let full = self.all.len() >= ISSUERS_MAX;
        let find = |all: &[Issuer], name: &str| all.iter().position(|i| i.kind == kind && i.name == name);
        let name = if full && find(&self.all, name).is_none() { REST } else { name };
        let at = find(&self.all, name).unwrap_or_else(|| {
            self.all.push(Issuer { kind, name: name.into(), ..Issuer::default() });
            self.all.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    #[inline]
    pub(super) fn count(&mut self, number: u16, class: RequestClass, bytes: u64) {
        let Some(issuer) = self.all.get_mut(usize::from(number)) else { return };
        match class {
            RequestClass::Read => {
                issuer.reads += 1;
                issuer.read_bytes = issuer.read_bytes.saturating_add(bytes);
            }
            RequestClass::Write => {
                issuer.writes += 1;
                issuer.write_bytes = issuer.write_bytes.saturating_add(bytes);
            }
            _ => issuer.others += 1,
        }
    }

    /// Resets the counts; numbers already given out stay valid.
    pub(super) fn restart(&mut self) {
        for issuer in &mut self.all {
            *issuer =
                Issuer { kind: issuer.kind, name: std::mem::take(&mut issuer.name), ..Issuer::default() };
        }
    }

    /// The issuers with requests, the most bytes first.
    pub(super) fn active(&self) -> Vec<Issuer> {
        let asked = |i: &Issuer| i.reads + i.writes + i.others;
        let bytes = |i: &Issuer| i.read_bytes.saturating_add(i.write_bytes);
        let mut all: Vec<Issuer> = self.all.iter().filter(|i| asked(i) > 0).cloned().collect();
        all.sort_by(|a, b| {
            (bytes(b), asked(b))
                .cmp(&(bytes(a), asked(a)))
                .then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name)))
        });
        all
    }
}

/// Merges entries of the same kind and name; the most bytes first.
#[must_use]
pub fn merged_issuers(all: Vec<Issuer>) -> Vec<Issuer> {
    let mut issuers = Issuers::default();
    for more in all {
        let number = issuers.entry(more.kind, &more.name);
        if let Some(issuer) = issuers.all.get_mut(usize::from(number)) {
            issuer.reads += more.reads;
            issuer.read_bytes = issuer.read_bytes.saturating_add(more.read_bytes);
            issuer.writes += more.writes;
            issuer.write_bytes = issuer.write_bytes.saturating_add(more.write_bytes);
            issuer.others += more.others;
        }
    }
    issuers.active()
}

/// A name without its thread number: "loop0" becomes "loop", "jbd2/vda1-8" becomes "jbd2/vda1". Kernel workers, named by pools
/// and numbers ("kworker/u8:3", "kworker/0:1H"), keep only the word. Names of programs are not changed.
#[must_use]
pub fn without_numbers(kind: IssuerKind, name: &str) -> &str {
    if kind == IssuerKind::Other {
        return name;
    }
    if name.starts_with("kworker/") {
        return "kworker";
    }
    let short =
        name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_', ':', '/', '.']);
    if short.is_empty() { name } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_kind_are_one() {
        let cut = |name| without_numbers(IssuerKind::Kernel, name);
        assert_eq!(
            [cut("loop0"), cut("jbd2/vda1-8"), cut("kworker/u8:3"), cut("kworker/0:1H")],
            ["loop", "jbd2/vda1", "kworker", "kworker"]
        );
        assert_eq!([cut("md127_raid1"), cut("12"), cut("")], ["md127_raid", "12", ""]);
        assert_eq!(without_numbers(IssuerKind::Other, "worker7"), "worker7");
        assert_eq!(without_numbers(IssuerKind::Own, "reader-7"), "reader");
    }

    #[test]
    fn there_are_no_more_than_so_many() {
        let mut issuers = Issuers::default();
        let mut event = super::super::tests::event(0, super::super::super::BlockAction::Issue, "R", 0, 8);
        for n in 0..5000u32 {
            event.task = BlockEvent::task_of(&format!("p{n}"));
            let number = issuers.number(IssuerKind::Other, &event);
            issuers.count(number, RequestClass::Read, 4096);
        }
        let all = issuers.active();
        assert_eq!(all.len(), ISSUERS_MAX + 1);
        assert_eq!((all[0].name.as_str(), all[0].reads), (REST, 5000 - ISSUERS_MAX as u64));
        assert!(issuers.known.len() <= SPELLINGS_MAX);
        issuers.restart();
        assert_eq!(issuers.active(), []);
    }
}
