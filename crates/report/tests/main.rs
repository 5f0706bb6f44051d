//! The look of reports, and that no record breaks them: one test program.

mod golden;
mod odd;
#[path = "support/samples.rs"]
mod samples;
