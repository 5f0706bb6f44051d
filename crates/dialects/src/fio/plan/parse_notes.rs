//! Values that fio reads unlike people do: fathom reads them as fio does, and says so.

use super::super::settings::Settings;
use super::super::{lenient_number, number, split, table, triples};
use super::Notes;

/// Notes on values that fio parses unexpectedly.
pub fn warn(s: &Settings, notes: &mut Notes) {
    for (_, setting) in s.all() {
        let text = matches!(setting.row.kind, table::Kind::Text | table::Kind::OptionalText);
        if let Some(value) =
            setting.value.as_deref().filter(|v| !text && lenient_number::cuts_off(v, setting.row.kind))
        {
            notes.say(format!(
                "{}={value}: as in fio, the text after the number is ignored, and no arithmetic is done",
                setting.row.name
            ));
        }
        let bytes = matches!(
            setting.row.kind,
            table::Kind::Bytes
                | table::Kind::Range
                | table::Kind::Size
                | table::Kind::BytesTriple
                | table::Kind::RangeTriple
                | table::Kind::SplitTriple
        );
        let Some(value) = setting.value.as_deref().filter(|_| bytes) else { continue };
        if setting.row.kind == table::Kind::RangeTriple && value.contains('/') {
            notes.say(format!(
                "{}={value}: as in fio, only the first two sizes count, and no shares; bssplit has them",
                setting.row.name
            ));
        }
        if setting.row.name == "bssplit" && split::leaves_something(value) {
            notes.say(format!("bssplit={value}: as in fio, what is left of 100 % goes to the largest share"));
        }
        if setting.row.kind == table::Kind::BytesTriple && triples::looks_like_a_range(value) {
            let name = setting.row.name;
            let range = if name == "bs" { "; bsrange=LOW-HIGH is a range" } else { "" };
            notes.say(format!(
                "{name}={value}: as in fio, these are values for reads, writes and trims, which commas separate{range}"
            ));
        }
        if setting.kb_base == 1024 && number::has_surprising_suffix(value) {
            notes.say(format!(
                "{}={value}: with kb_base=1024, fio takes kib, mib and gib for powers of ten; k, m and g are powers of two",
                setting.row.name
            ));
        }
    }
    // Looked up so that they count as used; the defaults are what fathom does.
    let _ = (s.text("name"), s.text("description"));
}
