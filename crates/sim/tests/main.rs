//! The simulator as a whole: unchanged results, and properties of any workload on any machine. One test program.

mod unchanged;
mod whole_stack;
