//! The program `fathom`; the code is in the library beside this file.

use std::process::ExitCode;

fn main() -> ExitCode {
    fathom_cli::main()
}
