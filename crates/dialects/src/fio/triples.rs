//! Values for reads, writes and trims, as in `bs` and the rates. fio treats a colon or dash as a comma there, so what looks like a range
//! is not one.

use super::number;

/// Separators that fio treats as commas between numbers.
const ODD: [char; 2] = [':', '-'];

/// Whether values are separated by characters that suggest a range.
#[must_use]
pub fn looks_like_a_range(text: &str) -> bool {
    text.contains(ODD)
}

/// Checks that there is a value; an empty one is an error in fio too.
///
/// # Errors
/// A message if the value is empty.
pub fn given(text: &str) -> Result<(), String> {
    if text.split(',').all(|part| part.trim().is_empty()) {
        return Err(format!("{text:?} has no value"));
    }
    Ok(())
}

/// Values for reads, writes and trims, as [`number::triple`] reads them, but with colons and dashes as commas.
///
/// # Errors
/// If there is no value, a negative one, or two kinds of separators (where fio drops values); or the error of an invalid value.
pub fn read<T: Clone>(
    text: &str,
    default: [T; 3],
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<[T; 3], String> {
    if !looks_like_a_range(text) {
        given(text)?;
        return number::triple(text, default, read);
    }
    if text.trim().starts_with('-') {
        return Err(format!("{text:?} is negative"));
    }
    if text.contains(',') {
        return Err(format!("{text:?}: values for reads, writes and trims are separated by commas alone"));
    }
    let commas = text.replace(ODD, ",");
    given(&commas).map_err(|_| format!("{text:?} has no value"))?;
    number::triple(&commas, default, read)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{planned, refused};
    use super::*;
    use fathom_workload::{Bytes, Program, Record};

    fn of(text: &str) -> Result<[u64; 3], String> {
        read(text, [4; 3], |t| number::bytes(t, 1024))
    }

    #[test]
    fn colons_and_dashes_are_commas() {
        assert_eq!(of("4k,8k"), Ok([4096, 8192, 8192]));
        assert_eq!(of("4k-8k"), Ok([4096, 8192, 8192]));
        assert_eq!(of("4k:8k:16k"), Ok([4096, 8192, 16384]));
        assert_eq!(of(":8k"), Ok([4, 8192, 8192]));
        assert!(of("-8k").unwrap_err().contains("negative"));
        assert!(of("4k:8k,16k").unwrap_err().contains("commas alone"));
        assert!(of("1:2:3:4").is_err());
    }

    #[test]
    fn no_value_is_an_error() {
        for text in ["", ",", ",,", ":", " , "] {
            assert!(of(text).unwrap_err().contains("has no value"), "{text:?}");
        }
        for name in ["bs", "bsrange", "ba", "rate", "rate_iops", "rate_min", "rate_iops_min"] {
            let why = refused(&format!("--name=a --size=1m --{name}="));
            assert!(why.starts_with(&format!("fio: failed parsing {name}=\n")), "{why}");
        }
        // Falls back to the default, as in fio.
        assert!(planned("--name=a --size=1m --bssplit=").jobs[0].stream.record.unit() == Bytes(4096));
    }

    #[test]
    fn a_value_like_a_range_is_not_one_and_is_noted() {
        let plan = planned("--name=a --rw=randrw --size=1m --bs=4k-8k");
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else { panic!() };
        let fixed = |bytes| Box::new(Record::Fixed(Bytes(bytes)));
        assert_eq!(stream.record, Record::ByKind { read: fixed(4096), write: fixed(8192) });
        assert!(
            plan.notes.iter().any(|n| n.contains("bs=4k-8k") && n.contains("bsrange")),
            "{:?}",
            plan.notes
        );
        let plan = planned("--name=a --rw=write --size=1m --rate_iops=100:200");
        assert!(plan.notes.iter().any(|n| n.contains("rate_iops=100:200")), "{:?}", plan.notes);
        let quiet = planned("--name=a --size=1m --bsrange=4k-8k --rate_iops=100");
        assert!(!quiet.notes.iter().any(|n| n.contains("comma")), "{:?}", quiet.notes);
    }
}
