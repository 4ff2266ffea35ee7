//! State of a node as service managers and monitors show it.

/// State of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeState {
    /// Line for the operator; may be empty.
    pub text: String,
    /// Reasons that no peer may come; none if the node is ready.
    pub obstacles: Vec<&'static str>,
    /// Whether the node ends when its peers allow.
    pub is_draining: bool,
}
