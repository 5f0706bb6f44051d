//! The acceptance cases for a drop-in of fio, one test each: the same job is run by fio and by us in the same test, and both are held to
//! what the case says. Where fio itself does not do so, or we do something else on purpose, the test says it. Without fio every
//! case is skipped by its name; so are those that look at offsets where strace is missing.

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
