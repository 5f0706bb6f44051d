//! Storage whose calls fail: the command ends by itself, reports in one line what failed, and removes what it made,
//! then or with the next command.

mod short;
mod table;
mod trial;
mod words;
