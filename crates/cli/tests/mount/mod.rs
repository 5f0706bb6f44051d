//! `fathom mount` as a user meets it. Every mount is served by a child process, never by the test's own, so a test can never wait for itself;
//! and each has a watchdog that kills the server if a call into the mount does not come back, after which the kernel answers.

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
