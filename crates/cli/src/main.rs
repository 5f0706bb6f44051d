//! The program `fathom`; all of it is in the library beside this file.

use std::process::ExitCode;

fn main() -> ExitCode {
    fathom_cli::main()
}
