//! Tests of the disassembler: listings and round trips.

use super::*;
use crate::qvm::assembler::{Section, assemble};

fn text(source: &str) -> String {
    let assembly = assemble(source).unwrap_or_else(|error| panic!("{error}"));
    let text = disassemble(&assembly.image, &assembly.labels, false).expect("decodes");
    let again = assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).image;
    assert_eq!(again, assembly.image, "{text}");
    text
}

#[test]
fn listing_shows_functions_targets_and_meanings() {
    let listing = text(
        "main: enter 8\n const 0\n const 1\n eq @end\n const helper\n call\n pop
         const text\n pop\n const 1.5f\n pop\n @end: const -3\n call\n leave 8
         helper: enter 8\n const 0\n leave 8
         enter 8\n push\n leave 8
         .data\n.word 0, 0x12345678\nvalue: .word -2
         .lit\n.byte 0\ntext: .string \"say \\\"hi\\\"\\n\"\n.byte 200, 1\n.string \"ab\"\n.space 40
         .bss\n.space 4\nzero: .space 8",
    );
    for part in [
        "main:  ; instruction 0",
        "    eq @11",
        "    const helper",
        "; \"say \\\"hi\\\"\\n\"",
        "; 1.5f",
        "@11:\n    const -3                    ; service 2",
        "f17:  ; instruction 17",
        "    .word 0, 0x12345678\nvalue:\n    .word -2",
        "text:\n    .string \"say \\\"hi\\\"\\n\"",
        "    .byte 200, 1, 97, 98, 0, 0,",
        "    .space 4\nzero:\n    .space",
    ] {
        assert!(listing.contains(part), "{part}\n{listing}");
    }
}

#[test]
fn colliding_symbols_get_unique_names() {
    let source = "enter 8\n push\n leave 8\n enter 8\n push\n leave 8\n const 3\n call";
    let image = assemble(source).expect("valid").image;
    let label = |value, name: &str| Label { section: Section::Code, value, name: name.into() };
    let symbols = [label(0, "same"), label(3, "same"), label(u32::MAX, "print"), label(1, "f0")];
    let listing = disassemble(&image, &symbols, true).expect("decodes");
    for part in [".service print 0", "\nsame:", "\nsame_3:", "const same_3                ; 6"] {
        assert!(listing.contains(part), "{part}\n{listing}");
    }
    assert_eq!(assemble(&listing).expect("valid").image, image);
}

#[test]
fn undecodable_code_is_an_error_with_its_offset() {
    let image =
        |code: &[u8]| Image { code: code.to_vec(), instruction_count: 2, ..Image::default() };
    assert_eq!(
        disassemble(&image(&[1, 60]), &[], false),
        Err(DisassembleError::Unknown { number: 60, offset: 1, instruction: 1 })
    );
    assert_eq!(
        disassemble(&image(&[1, 3, 0]), &[], false),
        Err(DisassembleError::Truncated { offset: 1, instruction: 1 })
    );
}

proptest::proptest! {
    #[test]
    fn any_image_survives_the_round_trip(
        code in proptest::collection::vec(
            (0..60u8, proptest::prelude::any::<u32>(), 0..24u32, proptest::bool::ANY), 0..24),
        data in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40),
        literals in proptest::collection::vec(
            proptest::prop_oneof![0..255u8, 97..100u8, proptest::prelude::Just(0)], 0..80),
        zero_length in 0..100u32,
        jump_table in proptest::option::of(proptest::collection::vec(0..9u32, 0..12)),
        labels in proptest::collection::vec((0..4u8, 0..60u32, "[a-f]{1,2}"), 0..12),
    ) {
        let mut image = Image { data, literals, zero_length, jump_table, ..Image::default() };
        for (number, wild, near, is_near) in code {
            let opcode = Opcode::from_number(number).expect("known");
            image.code.push(number);
            let operand = if is_near { near } else { wild }.to_le_bytes();
            image.code.extend(&operand[..opcode.operation().operand.length()]);
            image.instruction_count += 1;
        }
        let sections = [Section::Code, Section::Data, Section::Literals, Section::Zero];
        let labels: Vec<_> = labels.into_iter().map(|(section, value, name)| {
            Label { section: sections[usize::from(section)], value, name }
        }).collect();
        let text = disassemble(&image, &labels, true).expect("decodes");
        let again = assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        proptest::prop_assert_eq!(again.image, image);
    }
}
