//! Making files cold before a phase, with proof: page by page where the kernel tells, and said where it does not.
