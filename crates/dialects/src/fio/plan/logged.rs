//! Jobs that write down what they do (`write_iolog`): every operation is kept, which needs to know how many there are.

use super::super::Wrong;
use super::super::settings::Settings;
use super::files::Laid;
use fathom_workload::{Amount, Record, Stream};

const LOG: &str = "write_iolog";

/// Keeps every operation, if the job is to write a log.
pub fn apply(s: &Settings, stream: &mut Stream, clones: u32, laid: &Laid) -> Result<(), Wrong> {
    let Some(name) = s.text(LOG) else { return Ok(()) };
    let refuse = |what: &str, instead: &str| Err(s.wrong(LOG, format!("{LOG}={name}: {what}")).hint(instead));
    if clones > 1 {
        return refuse(
            "clones would write over each other's log, as they do in fio",
            "a job for each, with a log each",
        );
    }
    if laid.several {
        return refuse("a log of several files is not supported", "one file, or a job for each");
    }
    if s.time("ramp_time")? > 0 {
        return refuse("what a warm-up does is not kept", "leave ramp_time out");
    }
    let counted = match stream.amount {
        Amount::Endless => false,
        Amount::Operations(_) => true,
        Amount::Pass | Amount::Passes(_) | Amount::Bytes(_) => matches!(stream.record, Record::Fixed(_)),
    };
    if !counted {
        return refuse(
            "every operation is kept, so their number must be known before",
            "number_ios; or one block size and no time_based",
        );
    }
    stream.log_operations = true;
    Ok(())
}
