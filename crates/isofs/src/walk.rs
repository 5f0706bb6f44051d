//! Walks the whole tree without recursion: every file once per name, every directory entered once, however many paths lead to it. Memory
//! is proportional to the directories on the current path, plus a number per directory seen.

use crate::directory::{self, Entry};
use crate::error::{Error, Place, Result};
use crate::finding::{Condition, Findings};
use crate::image::Image;
use crate::node::Node;
use crate::source::ReadAt;
use std::collections::HashSet;

/// One step of a walk.
#[derive(Debug)]
pub enum Step<'w> {
    /// A file; directories come before their entries.
    File {
        /// Path from the root, without a leading "/".
        path: &'w [u8],
        /// The file.
        node: &'w Node,
        /// A directory already reached by another path; it is not entered again.
        again: bool,
    },
    /// A directory that cannot be listed; the walk continues after it.
    Failed {
        /// Path of the directory; empty for the root.
        path: &'w [u8],
        /// The reason.
        error: Error,
    },
}

#[derive(Debug)]
struct Level {
    entries: std::vec::IntoIter<Entry>,
    /// Length of the path of the directory.
    path_bytes: usize,
}

/// A walk over an image.
#[derive(Debug)]
pub struct Walk<'a, S> {
    image: &'a Image<S>,
    levels: Vec<Level>,
    path: Vec<u8>,
    current: Option<Node>,
    /// A directory just shown, to be entered next.
    pending: Option<Node>,
    seen: HashSet<u64>,
    findings: Findings,
}

impl<'a, S: ReadAt> Walk<'a, S> {
    /// Starts at the root, which is not itself a step.
    #[must_use]
    pub fn new(image: &'a Image<S>) -> Self {
        Self::below(image, image.root().clone())
    }

    /// Starts at a directory.
    #[must_use]
    pub fn below(image: &'a Image<S>, directory: Node) -> Self {
        let seen = directory.directory_block().into_iter().collect();
        Self {
            image,
            levels: Vec::new(),
            path: Vec::new(),
            current: None,
            pending: Some(directory),
            seen,
            findings: Findings::default(),
        }
    }

    /// Problems of the directories so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Blocks of the directories entered or about to be.
    #[must_use]
    pub fn directories(&self) -> &HashSet<u64> {
        &self.seen
    }

    /// Skips the content of the directory of the last step.
    pub fn skip(&mut self) {
        self.pending = None;
    }

    /// The next file; `None` at the end. Paths are borrowed, because deep trees have long ones.
    pub fn step(&mut self) -> Option<Step<'_>> {
        if let Some(directory) = self.pending.take()
            && let Err(error) = self.enter(&directory)
        {
            return Some(Step::Failed { path: &self.path, error });
        }
        let entry = loop {
            let level = self.levels.last_mut()?;
            self.path.truncate(level.path_bytes);
            match level.entries.next() {
                Some(entry) => break entry,
                None => {
                    self.levels.pop();
                }
            }
        };
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend(&entry.name);
        let node = entry.node;
        let mut again = false;
        if let Some(block) = node.directory_block() {
            again = !self.seen.insert(block);
            if again {
                self.note_again(block, &node);
            } else {
                self.pending = Some(node.clone());
            }
        } else if node.is_directory() {
            self.pending = Some(node.clone()); // refused: entering it gives the reason
        }
        let node = self.current.insert(node);
        Some(Step::File { path: &self.path, node, again })
    }

    fn enter(&mut self, node: &Node) -> Result<()> {
        let listing = match node.directory_block() {
            Some(_) => directory::list_unguarded(self.image, node)?,
            None => self.image.read_dir(node)?,
        };
        self.findings.extend(listing.findings);
        self.levels.push(Level { entries: listing.entries.into_iter(), path_bytes: self.path.len() });
        Ok(())
    }

    fn note_again(&mut self, block: u64, node: &Node) {
        let place = Place { lbn: block, offset: 0 };
        if node.trail.as_ref().is_some_and(|trail| trail.holds(block)) {
            self.findings.add(Condition::DirectoryLoop, node.record, || {
                format!("an entry leads back to the directory at {place}, which it is in")
            });
        } else {
            self.findings.add(Condition::DirectoryShared, node.record, || {
                format!("the directory at {place} is reached by more than one path; it is walked once")
            });
        }
    }
}
