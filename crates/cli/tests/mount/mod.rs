//! `fathom mount` as a user sees it. Every mount is served by a child process, never by the test's own, so a test
//! cannot wait for itself; each has a watchdog that kills the server if a call into the mount does not return, after
//! which the kernel answers.

mod access;
mod advance;
mod backend;
mod catalogue;
mod ends;
mod hostile;
mod large;
mod ordinary;
mod support;
mod switches;
mod tree;
mod used;
