//! Light of surfaces as the writer needs it.

/// Light of a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Lighting {
    pub pages: Vec<Vec<u8>>,
    pub surfaces: Vec<SurfaceLight>,
    pub grid: Vec<u8>,
}
/// Light of a surface.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceLight {
    pub placement: Option<Placement>,
    pub colors: Vec<[u8; 4]>,
}
/// Place on a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    pub page: usize,
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
    pub origin: [f64; 3],
    pub vectors: [[f64; 3]; 3],
    pub coordinates: Vec<[f64; 2]>,
}
