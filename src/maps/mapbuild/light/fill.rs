//! Light of luxels in solids, from their neighbors.

use super::vector::{Vector, add, scale};

/// Gives each value without light the mean of its neighbors, repeatedly. Without any light, all values are zero.
pub(crate) fn fill_voids(mut values: Vec<Option<Vector>>, width: usize) -> Vec<Vector> {
    let height = values.len() / width.max(1);
    if values.iter().any(Option::is_some) {
        // Each pass reaches one luxel further, so that the longer side bounds the passes.
        for _ in 0..width.max(height) {
            if values.iter().all(Option::is_some) {
                break;
            }
            let before = values.clone();
            for (index, value) in values.iter_mut().enumerate() {
                if value.is_none() {
                    *value = neighbor_mean(&before, width, height, index);
                }
            }
        }
    }
    values.into_iter().map(Option::unwrap_or_default).collect()
}

fn neighbor_mean(
    values: &[Option<Vector>],
    width: usize,
    height: usize,
    index: usize,
) -> Option<Vector> {
    let (x, y) = (index % width, index / width);
    let mut sum = [0.0; 3];
    let mut count = 0;
    for row in y.saturating_sub(1)..=(y + 1).min(height - 1) {
        for column in x.saturating_sub(1)..=(x + 1).min(width - 1) {
            if let Some(value) = values[row * width + column] {
                sum = add(sum, value);
                count += 1;
            }
        }
    }
    (count > 0).then(|| scale(sum, 1.0 / f64::from(count)))
}
