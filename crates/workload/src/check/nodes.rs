//! Whether the NUMA nodes that a stream's memory is to lie on can be any. Which there are, only the machine knows.

use crate::{Node, Nodes, Stream};

/// What is wrong with them.
pub(super) fn error(stream: &Stream) -> Option<String> {
    match stream.buffers.node {
        Node::Bind(nodes) | Node::Interleave(nodes) if nodes.is_empty() => {
            Some("buffers on no NUMA node; name one, or leave node out".into())
        }
        Node::Prefer(node) if node >= Nodes::END => {
            Some(format!("buffers on NUMA node {node}; numbers of nodes are below {}", Nodes::END))
        }
        _ => None,
    }
}
