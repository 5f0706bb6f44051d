//! Outputs of every program, and what must come out of them.
