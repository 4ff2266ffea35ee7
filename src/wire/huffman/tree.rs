//! The growing Huffman tree over bytes that both codes of the protocol are made of.
//!
//! It starts as one leaf, the escape ("not yet transmitted"), and learns each byte that it is given.
//! `connect` packets use it as it grows; all other messages use the codes it ends with after a fixed
//! table of frequencies (see `build.rs`, which includes this file: it must not import the crate).
//!
//! Invariants: `order` lists all nodes by rank, and weights along it never grow; every inner node has
//! two children; sibling places and ranks are exchanged together. Source: Quake III protocol 68, the
//! Huffman section; the construction is the FGK family's with an explicit list of ranks.

/// A code: its bits in sending order, the first sent being the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The bits.
    pub bits: u32,
    /// How many.
    pub len: u8,
}

/// What a code stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A byte seen before.
    Known(u8),
    /// A byte that follows in full.
    New,
}

type NodeId = u16;
const NONE: NodeId = NodeId::MAX;
/// The escape leaf is the node that is there from the start.
const ESCAPE: NodeId = 0;
/// 256 leaves, the escape, and an inner node less than leaves.
const MAX_NODES: usize = 513;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Escape,
    Leaf(u8),
    Inner { children: [NodeId; 2] },
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    weight: u32,
    parent: NodeId,
    /// Place in `order`.
    rank: u16,
}

/// The tree.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    order: Vec<NodeId>,
    leaf_of: [NodeId; 256],
    root: NodeId,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        let escape = Node { kind: Kind::Escape, weight: 0, parent: NONE, rank: 0 };
        let mut nodes = Vec::with_capacity(MAX_NODES);
        nodes.push(escape);
        let mut order = Vec::with_capacity(MAX_NODES);
        order.push(ESCAPE);
        Self { nodes, order, leaf_of: [NONE; 256], root: ESCAPE }
    }

    /// Learns one more occurrence of `symbol`.
    pub fn add(&mut self, symbol: u8) {
        let mut current = match self.leaf_of[usize::from(symbol)] {
            NONE => self.split_escape(symbol),
            leaf => leaf,
        };
        while current != NONE {
            let leader = self.leader_of(current);
            if leader != current && leader != self.node(current).parent {
                self.exchange(current, leader);
            }
            let node = self.node_mut(current);
            node.weight += 1;
            current = node.parent;
        }
    }

    /// The code of a byte, or `None` while it is unknown.
    #[must_use]
    pub fn code(&self, symbol: u8) -> Option<Code> {
        match self.leaf_of[usize::from(symbol)] {
            NONE => None,
            leaf => Some(self.path_to(leaf)),
        }
    }

    /// The code that announces an unknown byte; empty while nothing is known.
    #[must_use]
    pub fn escape(&self) -> Code {
        self.path_to(ESCAPE)
    }

    /// Follows bits from the root to a leaf; `None` when the bits end first.
    pub fn decode(&self, mut next_bit: impl FnMut() -> Option<bool>) -> Option<Symbol> {
        let mut at = self.root;
        loop {
            match self.node(at).kind {
                Kind::Escape => return Some(Symbol::New),
                Kind::Leaf(symbol) => return Some(Symbol::Known(symbol)),
                Kind::Inner { children } => at = children[usize::from(next_bit()?)],
            }
        }
    }

    /// Puts an inner node where the escape stands, with the escape left and a new leaf right of it.
    /// Returns where weights still have to grow.
    fn split_escape(&mut self, symbol: u8) -> NodeId {
        let inner = self.nodes.len() as NodeId;
        let leaf = inner + 1;
        let parent = self.node(ESCAPE).parent;
        let rank = self.node(ESCAPE).rank;
        let children = [ESCAPE, leaf];
        self.nodes.push(Node { kind: Kind::Inner { children }, weight: 1, parent, rank });
        self.nodes.push(Node {
            kind: Kind::Leaf(symbol),
            weight: 1,
            parent: inner,
            rank: rank + 1,
        });
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

    /// The node of the same weight that stands first in rank.
    fn leader_of(&self, node: NodeId) -> NodeId {
        let weight = self.node(node).weight;
        let rank = usize::from(self.node(node).rank);
        let same = self.order[..rank].iter().rev().take_while(|&&n| self.node(n).weight == weight);
        self.order[rank - same.count()]
    }

    /// Two nodes, neither above the other, take each other's place in the tree and in rank.
    fn exchange(&mut self, a: NodeId, b: NodeId) {
        let (parent_a, parent_b) = (self.node(a).parent, self.node(b).parent);
        if parent_a == parent_b {
            if let Kind::Inner { children } = &mut self.node_mut(parent_a).kind {
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
        } else if let Kind::Inner { children } = &mut self.node_mut(parent).kind {
            let side = usize::from(children[0] != old);
            children[side] = new;
        }
    }

    /// The way from the root, first step lowest.
    fn path_to(&self, node: NodeId) -> Code {
        let mut code = Code::default();
        let mut at = node;
        while self.node(at).parent != NONE {
            let parent = self.node(at).parent;
            if let Kind::Inner { children } = self.node(parent).kind {
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
