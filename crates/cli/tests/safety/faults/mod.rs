//! Storage whose calls fail: what is done ends by itself, says in one line what failed, and takes away what it made, then or with the next
//! command.

mod short;
mod table;
mod trial;
mod words;
