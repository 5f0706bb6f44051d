//! Parses the kernel's descriptions of its binary trace data: `events/*/*/format` (the field offsets of each event) and
//! `events/header_page` (the layout of a ring page). Offsets are never hard-coded, because they differ between kernels.

use std::collections::BTreeMap;

/// Position of a field in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the beginning of the record.
    pub offset: usize,
    /// Length in bytes.
    pub size: usize,
}

/// The description of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFormat {
    /// The number at the start of each of its records.
    pub id: u16,
    fields: BTreeMap<String, Field>,
}

impl EventFormat {
    /// Parses a `format` file. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let id = text.lines().find_map(|l| l.strip_prefix("ID:"));
        let id = id.ok_or("it has no line `ID:`")?.trim();
        let id = id.parse().map_err(|_| format!("its ID `{id}` is not a number below 65536"))?;
        let fields = fields(text)?;
        let format = Self { id, fields };
        format.wanted("common_type", 2)?;
        Ok(format)
    }

    /// The field of this name, if there is one.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }

    /// A required number of exactly this many bytes.
    pub fn wanted(&self, name: &str, size: usize) -> Result<Field, String> {
        let field = self.field(name).ok_or_else(|| format!("it has no field `{name}`"))?;
        if field.size != size {
            return Err(format!("its field `{name}` has {} bytes, expected {size}", field.size));
        }
        Ok(field)
    }

    /// Offset of the end of the last field.
    #[must_use]
    pub fn end(&self) -> usize {
        self.fields.values().map(|f| f.offset + f.size).max().unwrap_or(0)
    }
}

/// Layout of a ring page (the kernel calls it a sub-buffer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFormat {
    /// Offset of the page's base timestamp (8 bytes), to which its first record is relative.
    pub timestamp: usize,
    /// Number of data bytes in use, with flags in the upper bits; as long as the kernel's `long`.
    pub commit: Field,
    /// Offset of the data.
    pub data: usize,
    /// Length of a page in bytes.
    pub bytes: usize,
}

impl PageFormat {
    /// The page of current kernels on 64-bit machines with pages of 4 KiB.
    pub const USUAL: Self =
        Self { timestamp: 0, commit: Field { offset: 8, size: 8 }, data: 16, bytes: 4096 };

    /// Parses `events/header_page`. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fields = fields(text)?;
        let field = |name: &str| fields.get(name).copied().ok_or_else(|| format!("it has no field `{name}`"));
        let (timestamp, commit, data) = (field("timestamp")?, field("commit")?, field("data")?);
        let bytes = data.offset + data.size;
        if timestamp.size != 8 || !matches!(commit.size, 4 | 8) {
            return Err(format!(
                "its timestamp has {} bytes (expected 8) and its commit {} (expected 4 or 8)",
                timestamp.size, commit.size
            ));
        }
        let head = (timestamp.offset + 8).max(commit.offset + commit.size);
        if data.offset < head || bytes < 512 {
            return Err(format!("its data begins at byte {} and ends at {bytes}", data.offset));
        }
        Ok(Self { timestamp: timestamp.offset, commit, data: data.offset, bytes })
    }
}

/// Upper bound of any offset in a trace record or page, so that sums of offsets cannot overflow.
const FARTHEST: usize = 1 << 26;

fn fields(text: &str) -> Result<BTreeMap<String, Field>, String> {
    let mut found = BTreeMap::new();
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("field:")) {
        let (name, field) =
            field(line).ok_or_else(|| format!("the line `field:{line}` is not understood"))?;
        found.insert(name, field);
    }
    Ok(found)
}

/// Parses a tab-separated line such as `char rwbs[10]; offset:34; size:10; signed:0;`, without its `field:`.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?;
    let word = declared.rsplit([' ', '\t', '*']).next()?;
    let name = word.split('[').next()?;
    let (mut offset, mut size) = (None, None);
    for part in parts {
        if let Some(n) = part.strip_prefix("offset:") {
            offset = n.parse().ok();
        } else if let Some(n) = part.strip_prefix("size:") {
            size = n.parse().ok();
        }
    }
    let field = Field { offset: offset?, size: size? };
    let sane = !name.is_empty() && field.offset <= FARTHEST && field.size <= FARTHEST;
    sane.then(|| (name.to_string(), field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::synthetic::ISSUE_FORMAT;

    #[test]
    fn an_events_fields_are_found() {
        let issue = EventFormat::parse(ISSUE_FORMAT).expect("understood");
        assert_eq!(issue.id, 2104);
        assert_eq!(issue.field("rwbs"), Some(Field { offset: 34, size: 10 }));
        assert_eq!(issue.field("cmd"), Some(Field { offset: 60, size: 4 }));
        assert_eq!(issue.wanted("sector", 8), Ok(Field { offset: 16, size: 8 }));
        assert_eq!(issue.end(), 64);
    }

    #[test]
    fn what_is_missing_is_named() {
        let said = |text: &str| EventFormat::parse(text).expect_err("wrong");
        assert!(said("name: x\n").contains("ID:"));
        assert!(said("ID: 70000\n").contains("70000"));
        assert!(said("ID: 7\n").contains("common_type"));
        let odd = "ID: 7\n\tfield:u16 common_type;\toffset:0;\n";
        assert!(said(odd).contains("offset:0"), "{}", said(odd));
        let issue = EventFormat::parse(ISSUE_FORMAT).expect("understood");
        assert!(issue.wanted("dev", 8).expect_err("4 bytes").contains("4 bytes, expected 8"));
    }

    #[test]
    fn a_page_is_described() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        assert_eq!(PageFormat::parse(text), Ok(PageFormat::USUAL));
        let larger = text.replace("4080", "16368");
        assert_eq!(PageFormat::parse(&larger).map(|p| p.bytes), Ok(16384));
        let narrow = text.replace("offset:8;\tsize:8", "offset:8;\tsize:4").replace("offset:16", "offset:12");
        assert_eq!(PageFormat::parse(&narrow).map(|p| (p.commit.size, p.data)), Ok((4, 12)));
        assert!(PageFormat::parse("").is_err());
        assert!(PageFormat::parse(&text.replace("offset:16", "offset:4")).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(
            text in "(?s).{0,300}|(ID: [0-9]{1,6}\n)?(\tfield:[a-z _]{1,20}(\\[[0-9]{0,4}\\])?;\toffset:[0-9]{1,20};\tsize:[0-9]{0,20};\n){0,8}"
        ) {
            let _ = EventFormat::parse(&text).map(|f| f.end());
            let _ = PageFormat::parse(&text);
        }
    }
}
