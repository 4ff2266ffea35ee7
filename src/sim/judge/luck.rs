//! Random numbers of a comparison: one value for a whole play, the same for both sides.
//!
//! Rules draw numbers in different order, so that equal seeds would soon give different numbers. With one value
//! for all, the order has no effect. The native rules have a setting for it; in the module, the generator of the C
//! library is changed: `state * 69069 + 1` becomes `state * 0 + value`.
//!
//! Source: the library of game modules, compiled by its compiler.

use crate::qvm::{Image, Opcode};

/// Factor of the generator, and the mask of its results.
const FACTOR: u32 = 69_069;
const MASK: u32 = 0x7fff;
/// Longest code from the factor to the mask, in bytes.
const REACH: usize = 48;

/// Returns an image whose random numbers are `value`, or `None` if its generator is not known.
pub(super) fn with_fixed_random(bytes: &[u8], value: u16) -> Option<Vec<u8>> {
    let mut image = Image::parse(bytes).ok()?;
    let code = &mut image.code;
    let factors = (0..code.len()).filter(|&at| is_const(code, at, FACTOR));
    // The generator with a seed as an argument has another mask.
    let (factor, one) = factors.into_iter().find_map(|at| {
        let near = at..(at + REACH).min(code.len());
        near.clone().find(|&at| is_const(code, at, MASK))?;
        let one = near.clone().find(|&at| is_const(code, at, 1))?;
        Some((at, one))
    })?;
    set_const(code, factor, 0);
    set_const(code, one, u32::from(value));
    let mut written = Vec::new();
    image.write(&mut written);
    Some(written)
}

/// Whether the code at an offset pushes a constant.
fn is_const(code: &[u8], at: usize, value: u32) -> bool {
    code.get(at) == Some(&(Opcode::Const as u8))
        && code.get(at + 1..at + 5) == Some(&value.to_le_bytes()[..])
}

fn set_const(code: &mut [u8], at: usize, value: u32) {
    if let Some(operand) = code.get_mut(at + 1..at + 5) {
        operand.copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qvm::assemble;

    /// A generator of seeds as arguments, then that of the library.
    const GENERATORS: &str = "enter 8\nlocal 16\nload4\nconst 69069\nmuli\nconst 1\nadd\nconst 65535\nband\n\
                              leave 8\nenter 8\nconst 4\nconst 69069\nconst 4\nload4\nmuli\nconst 1\nadd\n\
                              store4\nconst 4\nload4\nconst 32767\nband\nleave 8\n.data\nnull: .word 0, 7\n";

    #[test]
    fn generator_of_the_library_is_fixed() {
        let text = GENERATORS;
        let mut bytes = Vec::new();
        assemble(text).unwrap().image.write(&mut bytes);
        let changed = with_fixed_random(&bytes, 9001).unwrap();
        let mut expected = Vec::new();
        let (seeded, library) = text.split_at(text.rfind("const 69069").unwrap());
        let library = library.replacen("const 69069", "const 0", 1);
        let library = library.replacen("const 1\n", "const 9001\n", 1);
        assemble(&format!("{seeded}{library}")).unwrap().image.write(&mut expected);
        assert_eq!(changed, expected);
        assert_eq!(with_fixed_random(b"no module", 1), None);
    }
}
