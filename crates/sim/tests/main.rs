//! The simulator as a whole: results that stay the same, and what holds for any workload on any machine. One test program.

mod unchanged;
mod whole_stack;
