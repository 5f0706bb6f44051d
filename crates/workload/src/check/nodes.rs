//! Checks that the NUMA nodes of a stream's memory are possible. Which ones exist depends on the machine.

use crate::{Node, Nodes, Stream};

pub(super) fn error(stream: &Stream) -> Option<String> {
    match stream.buffers.node {
        Node::Bind(nodes) | Node::Interleave(nodes) if nodes.is_empty() => {
            Some("buffers on no NUMA node; name one, or leave node out".into())
        }
        Node::Prefer(node) if node >= Nodes::END => {
            Some(format!("buffers on NUMA node {node}; node numbers must be below {}", Nodes::END))
        }
        _ => None,
    }
}
