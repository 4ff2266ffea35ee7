//! Textures, drawn by formulas.
//!
//! Colors are numbers of the palette: 16 ramps of 16 shades. The first eight ramps grow brighter upward in all
//! games.

/// Width of a texture, in texels.
pub(super) const TEXTURE_SIZE: usize = 64;
/// Sizes of a texture: full, half, quarter, eighth.
const LEVELS: usize = 4;
/// Bytes of the head of a texture.
const HEAD_LEN: usize = 40;

/// A texture.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// Name; those of liquids begin with `*`.
    pub name: &'static str,
    /// First color of its ramp.
    pub ramp: u8,
    /// Shade of a texel: `0..16`, by column and row of a texture of a width.
    pub shade: fn(usize, usize, usize) -> u8,
}

impl Texture {
    /// Whether its surfaces move and have no light map.
    pub(super) fn is_liquid(&self) -> bool {
        self.name.starts_with('*')
    }

    /// Returns the texture in the format of the file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; 16];
        out[..self.name.len().min(15)]
            .copy_from_slice(&self.name.as_bytes()[..self.name.len().min(15)]);
        out.extend([TEXTURE_SIZE as u32; 2].iter().flat_map(|side| side.to_le_bytes()));
        let mut offset = HEAD_LEN;
        for level in 0..LEVELS {
            out.extend((offset as u32).to_le_bytes());
            offset += (TEXTURE_SIZE >> level) * (TEXTURE_SIZE >> level);
        }
        for size in (0..LEVELS).map(|level| TEXTURE_SIZE >> level) {
            let texels = (0..size).flat_map(|y| (0..size).map(move |x| (x, y)));
            out.extend(texels.map(|(x, y)| self.ramp + (self.shade)(x, y, size)));
        }
        out
    }
}

/// Shades of large tiles with bright edges.
pub(super) fn tiles(x: usize, y: usize, size: usize) -> u8 {
    let tile = if (x * 4 / size + y * 4 / size) % 2 == 1 { 10 } else { 6 };
    tile + if x == 0 || y == 0 { 3 } else { 0 }
}

/// Shades of bricks in rows that are offset by half.
pub(super) fn bricks(x: usize, y: usize, size: usize) -> u8 {
    let (row, in_row) = (y * 4 / size, y * 4 % size);
    let along = (x * 2 + (row % 2) * size / 2) % size;
    if in_row == 0 || along < 2 { 4 } else { 7 + (row as u8 * 3 + (x * 16 / size) as u8 * 5) % 3 }
}

/// Shades of planks.
pub(super) fn planks(x: usize, y: usize, size: usize) -> u8 {
    let (plank, in_plank) = (x * 4 / size, x * 4 % size);
    if in_plank == 0 { 3 } else { 7 + (plank as u8 * 2 + (y * 8 / size) as u8) % 4 }
}

/// Shades of waves.
pub(super) fn waves(x: usize, y: usize, size: usize) -> u8 {
    let fold = |value: usize| {
        let part = value * 8 % (size * 2);
        part.min(size * 2 - part) * 4 / size
    };
    6 + (fold(x + y / 2) + fold(y + x / 2)) as u8 / 2
}
