//! Materials: the shaders of a map in order of first use, with image sizes.

use std::collections::HashMap;

use super::{
    shaders::{Shader, Shaders},
    vector::Vector,
};

/// A shader in use.
#[derive(Clone, Debug)]
pub(super) struct Material {
    /// Shader.
    pub shader: Shader,
    /// Width and height of the image, in pixels.
    pub size: [f64; 2],
    /// Mean color of the image, 0 to 1 per component.
    pub color: Vector,
    /// Line of the first face or patch with it.
    pub line: u32,
}

/// Shaders in use, by number.
#[derive(Debug)]
pub(super) struct Materials {
    shaders: Shaders,
    list: Vec<Material>,
    numbers: HashMap<String, usize>,
}

impl Materials {
    /// Creates an empty list over the known shaders.
    #[must_use]
    pub(super) fn new(shaders: Shaders) -> Self {
        Self { shaders, list: Vec::new(), numbers: HashMap::new() }
    }

    /// Returns the number of the shader of a texture, and adds new ones.
    pub(super) fn add(&mut self, texture: &str, line: u32) -> usize {
        if let Some(&number) = self.numbers.get(texture) {
            return number;
        }
        let shader = self.shaders.get(&format!("textures/{texture}"));
        self.list.push(Material { shader, size: [128.0; 2], color: Vector([0.5; 3]), line });
        self.numbers.insert(texture.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }

    /// Returns all materials in the order of their numbers.
    #[must_use]
    pub(super) fn all(&self) -> &[Material] {
        &self.list
    }

    /// Returns all materials, to set sizes and colors.
    pub(super) fn all_mut(&mut self) -> &mut [Material] {
        &mut self.list
    }
}

impl std::ops::Index<usize> for Materials {
    type Output = Material;

    fn index(&self, number: usize) -> &Material {
        &self.list[number]
    }
}
