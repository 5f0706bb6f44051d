//! Our Filebench personalities in `examples/filebench`, as a user has them: each is read, planned and run for a second in small, and
//! prints the rows that Filebench 1.5 prints for it. Together with the scripts of the language's own tests they use every word the
//! language has, and the manual page says the same as the program.

mod check;
mod constructs;
pub mod list;
mod manual;
mod plans;
mod runs;
mod vocabulary;
