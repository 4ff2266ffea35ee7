//! Flood from the entities: leafs inside the map, or the way out of an open map.

use std::collections::VecDeque;

use super::{diagnostic::Leak, planes::Planes, portals::Portals, tree::Tree, vector::Vector};

/// Height over an entity's origin at which the flood starts. Origins may be on a floor.
const START_HEIGHT: f64 = 1.0;

/// An entity from which the inside of the map is found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    /// Class of the entity.
    pub class: String,
    /// Line of the entity.
    pub line: u32,
    /// Origin of the entity.
    pub origin: Vector,
}

/// First step into a leaf.
#[derive(Clone, Copy)]
enum FloodStep {
    /// From an entity, by index.
    Start(usize),
    /// Through a portal, from a leaf.
    Through { portal: usize, from: usize },
}

/// Makes every leaf opaque that no entity reaches. Returns the entities in opaque leafs.
///
/// # Errors
/// Returns the way out when the outside is reached.
pub(super) fn flood<'a>(
    tree: &mut Tree,
    portals: &Portals,
    starts: &'a [Start],
    planes: &Planes,
) -> Result<Vec<&'a Start>, Leak> {
    let mut reached: Vec<Option<FloodStep>> = vec![None; tree.leafs.len()];
    let mut queue = VecDeque::new();
    let mut in_solid = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let leaf = tree.leaf_at(start.origin + Vector::along(2, START_HEIGHT), planes);
        if tree.leafs[leaf].is_opaque {
            in_solid.push(start);
        } else if reached[leaf].is_none() {
            reached[leaf] = Some(FloodStep::Start(number));
            queue.push_back(leaf);
        }
    }
    while let Some(leaf) = queue.pop_front() {
        for &number in &portals.of_leaf[leaf] {
            let Some(next) = portals.list[number].other(leaf) else {
                return Err(way_out(&reached, leaf, number, portals, starts));
            };
            if !tree.leafs[next].is_opaque && reached[next].is_none() {
                reached[next] = Some(FloodStep::Through { portal: number, from: leaf });
                queue.push_back(next);
            }
        }
    }
    for (leaf, step) in tree.leafs.iter_mut().zip(&reached) {
        leaf.is_opaque |= step.is_none();
    }
    Ok(in_solid)
}

fn way_out(
    reached: &[Option<FloodStep>],
    last: usize,
    exit: usize,
    portals: &Portals,
    starts: &[Start],
) -> Leak {
    let center = |portal: usize| portals.list[portal].winding.center();
    let mut points = vec![center(exit)];
    let mut at = last;
    while let Some(step) = reached[at] {
        match step {
            FloodStep::Through { portal, from } => {
                points.push(center(portal));
                at = from;
            }
            FloodStep::Start(start) => {
                let Start { class, line, origin } = &starts[start];
                points.push(*origin);
                points.reverse();
                return Leak { class: class.clone(), line: *line, points };
            }
        }
    }
    // Every reached leaf leads back to an entity; the way alone is still of use.
    points.reverse();
    Leak { class: "entity".to_owned(), line: 0, points }
}
