//! The acceptance cases for a fio drop-in, one test each: fio and fathom run the same job, and both must do what the
//! case says. Deliberate differences are stated in the test. Without fio every case is skipped by name; so are those
//! that check offsets if strace is missing.

mod both;
mod data;
mod ends;
mod files;
mod jobs;
mod logs;
mod order;
mod output;
mod pace;
mod sizes;
