//! Modules whose random numbers are all the same, for comparisons.
//!
//! Rules draw numbers in different order, so that equal seeds would soon give different numbers. With one value
//! for all, the order has no effect. The generator of the C library is changed: `state * 69069 + 1` becomes
//! `state * 0 + value`.
//!
//! Source: the library of game modules, compiled by its compiler.

use super::{Image, Opcode};

/// Factor of the generator, and the mask of its results.
const FACTOR: u32 = 69_069;
const MASK: u32 = 0x7fff;
/// Longest code from the factor to the mask, in bytes.
const REACH: usize = 48;

impl Image {
    /// Makes every random number `value`. Returns whether the generator is known; else nothing changes.
    pub(crate) fn fix_random(&mut self, value: u16) -> bool {
        let code = &mut self.code;
        // The generator with a seed as an argument has another mask.
        let found = (0..code.len()).filter(|&at| is_const(code, at, FACTOR)).find_map(|at| {
            let near = at..(at + REACH).min(code.len());
            near.clone().find(|&at| is_const(code, at, MASK))?;
            let one = near.clone().find(|&at| is_const(code, at, 1))?;
            Some((at, one))
        });
        let Some((factor, one)) = found else { return false };
        set_const(code, factor, 0);
        set_const(code, one, u32::from(value));
        true
    }
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
        let image = |text: &str| assemble(text).unwrap().image;
        let mut changed = image(GENERATORS);
        assert!(changed.fix_random(9001));
        let (seeded, library) = GENERATORS.split_at(GENERATORS.rfind("const 69069").unwrap());
        let library = library.replacen("const 69069", "const 0", 1);
        let library = library.replacen("const 1\n", "const 9001\n", 1);
        assert_eq!(changed, image(&format!("{seeded}{library}")));
        assert!(!Image::default().fix_random(1));
    }
}
