//! IOzone's output and exit code for a failed operation.

use fathom_record::OpError;

pub(super) fn exit_code(error: &OpError, reads: bool) -> i32 {
    match (error.call.as_str(), reads) {
        ("open" | "create" | "remove" | "stat", true) => 58,
        ("open" | "create" | "remove" | "stat", false) => 44,
        ("verify", _) => 89,
        ("read", _) => 60,
        _ => 74,
    }
}

/// The text on stdout; it first ends the current row.
pub(super) fn text(error: &OpError, reads: bool, record_kb: u64) -> String {
    let path = &error.path;
    if path.is_empty() {
        return format!("\n{}\n", error.message);
    }
    let record_bytes = record_kb << 10;
    let block = error.offset.and_then(|o| o.checked_div(record_bytes)).unwrap_or(error.after_ops);
    let main = match (error.call.as_str(), reads) {
        ("open" | "create" | "remove" | "stat", true) => {
            format!("Can not open temporary file {path} for read")
        }
        ("open" | "create" | "remove" | "stat", false) => format!("Can not open temp file: {path}"),
        ("verify", _) => {
            let position = error.offset.unwrap_or(0);
            format!(
                "Error in file: Position {position} \nRecord # {block} Record size {record_kb} kb \nwhere {path} loop {}",
                error.after_ops
            )
        }
        ("read", _) => format!("Error reading block {block} of {path}"),
        ("write", _) => format!("Error writing block {block} of {path}"),
        // Not a system call but a step between passes failed; its message is complete.
        ("", _) => return format!("\n{}\n", error.message),
        (call, _) => format!("Error in {call} of {path}"),
    };
    format!("\n{main}\n{}\n", error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(call: &str) -> OpError {
        OpError {
            compared: None,
            call: call.into(),
            path: "iozone.tmp".into(),
            offset: Some(8192),
            after_ops: 2,
            errno: 2,
            message: "No such file or directory.".into(),
        }
    }

    #[test]
    fn a_missing_file_is_reported_as_by_iozone() {
        assert_eq!(exit_code(&error("open"), true), 58);
        assert!(
            text(&error("open"), true, 4).starts_with("\nCan not open temporary file iozone.tmp for read\n")
        );
        assert_eq!(exit_code(&error("open"), false), 44);
        assert!(text(&error("open"), false, 4).contains("Can not open temp file: iozone.tmp"));
    }

    #[test]
    fn places_are_blocks() {
        assert!(text(&error("write"), false, 4).contains("Error writing block 2 "));
        assert!(text(&error("verify"), true, 4).contains("Record # 2 Record size 4 kb"));
        assert_eq!((exit_code(&error("write"), false), exit_code(&error("read"), true)), (74, 60));
        let nowhere = OpError { path: String::new(), ..error("") };
        assert_eq!(text(&nowhere, false, 4), "\nNo such file or directory.\n");
        assert!(text(&error("fsync"), false, 0).contains("Error in fsync of iozone.tmp"));
    }
}
