//! Output of `list filesets` and `list flowop`.

use super::filesets::CompiledSet;
use super::flowop_types::TYPES;
use crate::filebench::Spanned;
use crate::filebench::ast::{Composite, FlowopUse, Process};
use fathom_workload::{Files, Sizing};
use std::collections::HashMap;

/// `list filesets`: empty, without a heading, if there are none. Before creation the original does not know the entries.
pub(super) fn filesets(sets: &[CompiledSet], created: bool) -> Vec<String> {
    if sets.is_empty() {
        return Vec::new();
    }
    let head =
        format!("{:<20}{:>20}{:>12}{:>10}", "File or Fileset name", "file size", "dir width", "entries");
    let mut lines = vec![head];
    for s in sets {
        let size = match &s.set.size {
            Sizing::Fixed(bytes) => bytes.0.to_string(),
            Sizing::Variable(_) | Sizing::Each(_) => "0".into(),
        };
        let root = s.root.display().to_string();
        lines.push(match &s.set.files {
            Files::Tree(tree) if !s.single => {
                let width = match &tree.width {
                    Sizing::Fixed(width) => width.0.to_string(),
                    Sizing::Variable(_) | Sizing::Each(_) => "0".into(),
                };
                let entries = if created { tree.entries } else { 0 };
                format!("{root:<20}{size:>20}{width:>12}{entries:>10}")
            }
            _ => format!("{root:<20}{size:>20}     (Single File)"),
        });
    }
    lines
}

/// The flowops of a script in order of creation.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowopList(Vec<String>);

impl FlowopList {
    /// Adds a composite and the flowops in its definition.
    pub fn composite(&mut self, name: &str, composite: &Composite) {
        self.0.push(format!("{name}-0"));
        for flowop in &composite.flowops {
            self.0.push(format!("{}--1", name_of(&flowop.node)));
        }
    }

    /// Adds the flowops of a process, expanding composites.
    pub fn process(&mut self, process: &Process, composites: &HashMap<String, &Composite>) {
        for thread in &process.threads {
            self.uses(&thread.node.flowops, "", composites, 0);
        }
    }

    fn uses(
        &mut self,
        uses: &[Spanned<FlowopUse>],
        prefix: &str,
        composites: &HashMap<String, &Composite>,
        depth: u32,
    ) {
        for used in uses {
            let name = format!("{prefix}{}", name_of(&used.node));
            self.0.push(format!("{name}--2"));
            // Composites must be defined before use, so this ends; the limit covers scripts that violate this.
            if let Some(inner) = composites.get(&used.node.flowop_type.node)
                && depth < 16
            {
                self.uses(&inner.flowops, &format!("{name}."), composites, depth + 1);
            }
        }
    }

    /// `list flowop`: newest first, built-in types last.
    pub fn lines(&self) -> Vec<String> {
        let own = self.0.iter().rev().cloned();
        let built_in = TYPES.iter().map(|t| format!("{}-0", t.0));
        own.chain(built_in).map(|name| format!("flowop-list {name}")).collect()
    }
}

fn name_of(used: &FlowopUse) -> String {
    used.attributes.value("name").and_then(|v| v.node.text()).unwrap_or_default().to_owned()
}
