//! Checks of trees: no cycle, limited depth, limited number of paths.

use super::error::{Bsp29Error, Lump, TreeFault};
use super::{MAX_TREE_DEPTH, MAX_TREE_VISITS};

/// Extent of the tree below a node.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// Nodes on the longest path, or 0 before the node is known.
    depth: usize,
    /// Nodes on all paths.
    visits: u32,
    /// Whether the node is on the path that is being walked.
    is_open: bool,
}

/// Checks every node of a lump. `children` are indexes of nodes; leafs are `None`. Parts that several nodes share
/// are walked once here, and count for each of them.
pub(super) fn check(lump: Lump, children: &[[Option<usize>; 2]]) -> Result<(), Bsp29Error> {
    let mut extents = vec![Extent::default(); children.len()];
    let mut path: Vec<usize> = Vec::new();
    for root in 0..children.len() {
        if extents[root].depth != 0 {
            continue;
        }
        path.push(root);
        while let Some(&node) = path.last() {
            let fault = |fault| Err(Bsp29Error::Tree { lump, record: node, fault });
            extents[node].is_open = true;
            let below = children[node].into_iter().flatten();
            if let Some(next) = below.clone().find(|&child| extents[child].depth == 0) {
                if extents[next].is_open {
                    return fault(TreeFault::Cycle);
                }
                path.push(next);
                continue;
            }
            let depth = 1 + below.clone().map(|child| extents[child].depth).max().unwrap_or(0);
            if depth > MAX_TREE_DEPTH {
                return fault(TreeFault::TooDeep { max: MAX_TREE_DEPTH });
            }
            // Both are within the limit, so that the sum is in range.
            let visits = 1 + below.map(|child| extents[child].visits).sum::<u32>();
            if visits > MAX_TREE_VISITS {
                return fault(TreeFault::TooLarge { max: MAX_TREE_VISITS });
            }
            extents[node] = Extent { depth, visits, is_open: false };
            path.pop();
        }
    }
    Ok(())
}
