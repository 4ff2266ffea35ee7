//! Adaptive Huffman tree over bytes, the origin of both codes.
//!
//! It starts as one leaf, the escape ("not yet transmitted"), and adds each new byte. `connect`
//! packets use it while it grows; all other messages use its codes after a fixed table of
//! frequencies (see `build.rs`, which includes this file: it must not import the crate).
//!
//! Nodes of one weight are neighbors in rank and form a block. The first rank of each block is
//! stored by weight, so adding a byte costs a constant number of steps for each level of the tree.
//!
//! Invariants: `order` lists all nodes by rank, and weights along it never grow; every inner node
//! has two children; tree positions and ranks are exchanged together; the parent of the escape
//! directly precedes the escape's sibling in rank; `firsts` is valid for each weight that a node
//! has. Source: Quake III protocol 68, the Huffman section; the construction is the FGK algorithm
//! with an explicit list of ranks.

/// A code: bits in wire order, the first sent lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Bits.
    pub bits: u32,
    /// Number of bits.
    pub len: u8,
}

/// Meaning of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A byte of the tree.
    Known(u8),
    /// The escape; the byte follows in full.
    New,
}

type NodeId = u16;
const NONE: NodeId = NodeId::MAX;
/// Node of the escape leaf, the initial node.
const ESCAPE: NodeId = 0;
/// Maximum number of nodes: 256 leaves, the escape, and one inner node less than leaves.
const MAX_NODES: usize = 513;
/// Maximum number of weights that a `connect` packet leads to.
const USUAL_WEIGHTS: usize = 1026;

#[derive(Clone, Copy, Debug)]
enum NodeKind {
    Escape,
    Leaf(u8),
    Inner { children: [NodeId; 2] },
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: NodeKind,
    weight: u32,
    parent: NodeId,
    /// Index in `order`.
    rank: u16,
}

/// An adaptive Huffman tree.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    order: Vec<NodeId>,
    /// First rank of each weight's block; any rank where no node has the weight.
    firsts: Vec<u16>,
    leaf_of: [NodeId; 256],
    root: NodeId,
    /// Number of nodes visited by [`add`](Self::add).
    visits: u64,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// Creates a tree without bytes.
    #[must_use]
    pub fn new() -> Self {
        let escape = Node { kind: NodeKind::Escape, weight: 0, parent: NONE, rank: 0 };
        let mut nodes = Vec::with_capacity(MAX_NODES);
        nodes.push(escape);
        let mut order = Vec::with_capacity(MAX_NODES);
        order.push(ESCAPE);
        let mut firsts = Vec::with_capacity(USUAL_WEIGHTS);
        firsts.resize(2, 0);
        Self { nodes, order, firsts, leaf_of: [NONE; 256], root: ESCAPE, visits: 0 }
    }

    /// Number of nodes visited by all calls of [`add`](Self::add): the cost of building the tree.
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Counts one more occurrence of `symbol`.
    pub fn add(&mut self, symbol: u8) {
        // A weight exceeds the number of added bytes by one at most.
        self.firsts.push(0);
        let mut current = match self.leaf_of[usize::from(symbol)] {
            NONE => self.split_escape(symbol),
            leaf => leaf,
        };
        while current != NONE {
            self.visits += 1;
            let Node { weight, rank, parent, .. } = *self.node(current);
            if self.weight_before(rank) == Some(weight) {
                let leader = self.order[usize::from(self.firsts[weight as usize])];
                if leader == parent {
                    // The node is the escape's sibling: its parent has the same weight and directly
                    // precedes it.
                    let above = self.promote(parent);
                    self.promote(current);
                    current = above;
                    continue;
                }
                self.exchange(current, leader);
            }
            current = self.promote(current);
        }
    }

    /// Returns the code of a byte, or `None` while it is unknown.
    #[must_use]
    pub fn code(&self, symbol: u8) -> Option<Code> {
        match self.leaf_of[usize::from(symbol)] {
            NONE => None,
            leaf => Some(self.path_to(leaf)),
        }
    }

    /// Returns the code that announces an unknown byte; empty in the initial tree.
    #[must_use]
    pub fn escape(&self) -> Code {
        self.path_to(ESCAPE)
    }

    /// Follows bits from the root to a leaf; `None` when the bits end first.
    pub fn decode(&self, mut next_bit: impl FnMut() -> Option<bool>) -> Option<Symbol> {
        let mut at = self.root;
        loop {
            match self.node(at).kind {
                NodeKind::Escape => return Some(Symbol::New),
                NodeKind::Leaf(symbol) => return Some(Symbol::Known(symbol)),
                NodeKind::Inner { children } => at = children[usize::from(next_bit()?)],
            }
        }
    }

    /// Replaces the escape by an inner node with the escape left and a new leaf right of it.
    /// Returns the node whose weight must be incremented next.
    fn split_escape(&mut self, symbol: u8) -> NodeId {
        let inner = self.nodes.len() as NodeId;
        let leaf = inner + 1;
        let Node { parent, rank, .. } = *self.node(ESCAPE);
        if self.weight_before(rank) != Some(1) {
            self.firsts[1] = rank;
        }
        let kind = NodeKind::Inner { children: [ESCAPE, leaf] };
        self.nodes.push(Node { kind, weight: 1, parent, rank });
        let kind = NodeKind::Leaf(symbol);
        self.nodes.push(Node { kind, weight: 1, parent: inner, rank: rank + 1 });
        self.leaf_of[usize::from(symbol)] = leaf;
        self.replace_child(parent, ESCAPE, inner);
        let escape = self.node_mut(ESCAPE);
        escape.parent = inner;
        escape.rank = rank + 2;
        // The escape is always the last in rank.
        self.order.pop();
        self.order.extend([inner, leaf, ESCAPE]);
        parent
    }

    /// Returns the weight of the node that precedes a rank.
    fn weight_before(&self, rank: u16) -> Option<u32> {
        let before = rank.checked_sub(1)?;
        Some(self.node(self.order[usize::from(before)]).weight)
    }

    /// Increments the weight of a node that leads its block, which moves it to the previous block.
    /// Returns its parent.
    fn promote(&mut self, node: NodeId) -> NodeId {
        let Node { weight, rank, parent, .. } = *self.node(node);
        let heavier = weight + 1;
        self.firsts[weight as usize] = rank + 1;
        if self.weight_before(rank) != Some(heavier) {
            self.firsts[heavier as usize] = rank;
        }
        self.node_mut(node).weight = heavier;
        parent
    }

    /// Exchanges two nodes in the tree and in rank. Neither is an ancestor of the other.
    fn exchange(&mut self, a: NodeId, b: NodeId) {
        let (parent_a, parent_b) = (self.node(a).parent, self.node(b).parent);
        if parent_a == parent_b {
            if let NodeKind::Inner { children } = &mut self.node_mut(parent_a).kind {
                children.swap(0, 1);
            }
        } else {
            self.replace_child(parent_a, a, b);
            self.replace_child(parent_b, b, a);
            self.node_mut(a).parent = parent_b;
            self.node_mut(b).parent = parent_a;
        }
        let (rank_a, rank_b) = (self.node(a).rank, self.node(b).rank);
        self.order.swap(usize::from(rank_a), usize::from(rank_b));
        self.node_mut(a).rank = rank_b;
        self.node_mut(b).rank = rank_a;
    }

    fn replace_child(&mut self, parent: NodeId, old: NodeId, new: NodeId) {
        if parent == NONE {
            self.root = new;
        } else if let NodeKind::Inner { children } = &mut self.node_mut(parent).kind {
            let side = usize::from(children[0] != old);
            children[side] = new;
        }
    }

    /// Returns the path from the root, first step lowest.
    fn path_to(&self, node: NodeId) -> Code {
        let mut code = Code::default();
        let mut at = node;
        while self.node(at).parent != NONE {
            let parent = self.node(at).parent;
            if let NodeKind::Inner { children } = self.node(parent).kind {
                code.bits = code.bits << 1 | u32::from(children[1] == at);
                code.len += 1;
            }
            at = parent;
        }
        code
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[usize::from(id)]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[usize::from(id)]
    }
}
