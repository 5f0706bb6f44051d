//! SysBench's error output: on stdout, with exit code 1 and no report. For errors that SysBench does not have (a foreign file,
//! a device that disappeared) the message is fathom's, and the caller prints it on stderr.

use super::head::{short_size, size};
use super::options::{Dialect, Mode, SysbenchOptions};
use fathom_record::OpError;
use std::path::Path;

/// Error of a run: a file cannot be opened.
#[must_use]
pub fn cannot_open(number: u64, errno: i32) -> String {
    format!(
        "FATAL: Cannot open file '{}' errno = {errno} ({})\nWARNING: Did you forget to run the prepare step?\n",
        SysbenchOptions::file_name(number),
        words(errno)
    )
}

/// Error of a run: a file is too short.
#[must_use]
pub fn too_small(o: &SysbenchOptions, number: u64, found_bytes: u64) -> String {
    let size = |bytes: u64| match o.dialect {
        Dialect::New => size(bytes as f64),
        Dialect::Old => short_size(bytes as f64, "b"),
    };
    format!(
        "FATAL: Size of file '{}' is {}, but at least {} is expected.\n\
         WARNING: Did you run 'prepare' with different --file-total-size or --file-num values?\n",
        SysbenchOptions::file_name(number),
        size(found_bytes),
        size(o.file_bytes())
    )
}

/// Error: a file cannot be created, by prepare or by a run that writes new files.
#[must_use]
pub fn cannot_create(number: Option<u64>, errno: i32) -> String {
    match number {
        Some(number) => {
            format!(
                "FATAL: Cannot create file '{}' errno = {errno} ({})\n",
                SysbenchOptions::file_name(number),
                words(errno)
            )
        }
        None => format!("FATAL: Can't open file errno = {errno} ({})\n", words(errno)),
    }
}

/// Error: an operation failed during the run.
pub(super) fn of_operation(o: &SysbenchOptions, error: &OpError) -> String {
    let file = number_of(&error.path).unwrap_or(0);
    let offset = error.offset.unwrap_or(0);
    if let Some((expected, found)) = error.compared {
        // A misplaced block is reported with its offset, a damaged one with its checksum.
        let what = if expected == offset {
            format!(
                "FATAL: Offset mismatch in block:\nFATAL:    Actual offset: {offset}    Stored offset: {found}\n"
            )
        } else {
            format!(
                "FATAL: Checksum mismatch in block with offset: {offset}\n\
                 FATAL:     Calculated value: {expected:#x}    Stored value: {found:#x}\n"
            )
        };
        return format!("{what}FATAL: Validation failed on file {file}, block offset {offset}, exiting...\n");
    }
    let cause = format!("errno = {} ({})", error.errno, words(error.errno));
    match error.call.as_str() {
        "read" => format!("FATAL: Failed to read file! file: {file} pos: {offset} {cause}\n"),
        "write" => format!("FATAL: Failed to write file! file: {file} pos: {offset} {cause}\n"),
        "fsync" => format!("FATAL: Failed to fsync file! file: {file} {cause}\n"),
        "create" => cannot_create((o.mode == Mode::SeqWrite).then_some(file), error.errno),
        "open" => cannot_open(file, error.errno),
        _ if error.errno != 0 => format!("FATAL: {} {cause}\n", error.call),
        _ => format!("FATAL: {}\n", error.message),
    }
}

/// The number after the last dot of a test file's path.
fn number_of(path: &str) -> Option<u64> {
    Path::new(path).file_name()?.to_str()?.strip_prefix("test_file.")?.parse().ok()
}

/// The C library's message for an error number.
fn words(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn o() -> SysbenchOptions {
        SysbenchOptions { files: 4, total_bytes: 1 << 20, ..SysbenchOptions::new(Dialect::New) }
    }

    #[test]
    fn files_that_are_not_there_or_too_short() {
        assert_eq!(
            cannot_open(0, 2),
            "FATAL: Cannot open file 'test_file.0' errno = 2 (No such file or directory)\nWARNING: Did you forget to run the prepare step?\n"
        );
        assert_eq!(
            too_small(&o(), 1, 100).lines().next(),
            Some("FATAL: Size of file 'test_file.1' is 100B, but at least 256KiB is expected.")
        );
    }

    #[test]
    fn blocks_that_do_not_check() {
        let error = |expected, found| OpError {
            call: "verify".into(),
            path: "/somewhere/test_file.2".into(),
            offset: Some(16384),
            compared: Some((expected, found)),
            ..OpError::default()
        };
        assert_eq!(
            of_operation(&o(), &error(0x6633_7a37, 0)),
            "FATAL: Checksum mismatch in block with offset: 16384\nFATAL:     Calculated value: 0x66337a37    Stored value: 0x0\n\
             FATAL: Validation failed on file 2, block offset 16384, exiting...\n"
        );
        assert_eq!(
            of_operation(&o(), &error(16384, 0)),
            "FATAL: Offset mismatch in block:\nFATAL:    Actual offset: 16384    Stored offset: 0\n\
             FATAL: Validation failed on file 2, block offset 16384, exiting...\n"
        );
    }

    #[test]
    fn reads_that_fail() {
        let error = OpError {
            call: "read".into(),
            path: "test_file.3".into(),
            offset: Some(972_118),
            errno: 22,
            ..OpError::default()
        };
        assert_eq!(
            of_operation(&o(), &error),
            "FATAL: Failed to read file! file: 3 pos: 972118 errno = 22 (Invalid argument)\n"
        );
    }
}
