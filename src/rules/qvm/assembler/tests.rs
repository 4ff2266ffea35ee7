//! Tests of the assembler: sections, labels, constants and errors.

use super::*;

fn image(text: &str) -> Image {
    assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}")).image
}

fn reason(text: &str) -> String {
    assemble(text).expect_err(text).to_string()
}

#[test]
fn labels_of_each_section_have_their_values() {
    let text = "
        .service print 0
        main:   enter 16            ; 0
        @loop:  const word          ; 1
                const text+1
                const zero - 4
                const print
                const @loop
                jump
                leave 16
        next:   enter 8             ; 8
        @loop:  const @loop
                leave 8
        .data
                .word 0, next
        word:   .word 'A', -1, 1.5f, -0.5f
        .lit
                .byte 255, -1
        text:   .string \"a\\\"\\x41\\n; b\"  ; comment
        .bss
                .align 4
                .space 3
        zero:   .space 5
    ";
    let assembly = assemble(text).expect("valid");
    let Image { instruction_count, code, data, literals, zero_length, jump_table, .. } =
        assembly.image.clone();
    assert_eq!((instruction_count, jump_table), (11, None));
    let operand = |at: usize| u32::from_le_bytes(*code[at..].first_chunk().expect("inside"));
    let constants: Vec<_> = (0..5).map(|n| operand(6 + 5 * n) as i32).collect();
    assert_eq!(constants, [8, 27, 24 + 10 + 3 - 4, -1, 1]);
    assert_eq!(operand(code.len() - 9), 9);
    assert_eq!(&data[..12], [0, 0, 0, 0, 8, 0, 0, 0, 65, 0, 0, 0]);
    assert_eq!(&data[16..], [1.5f32.to_le_bytes(), (-0.5f32).to_le_bytes()].concat());
    assert_eq!(literals, b"\xff\xffa\"A\n; b\0");
    assert_eq!(zero_length, 8 + DEFAULT_STACK_LEN);
    let labels = parse_symbol_map(&assembly.symbol_map());
    assert_eq!(labels[0], Label { section: Section::Code, value: u32::MAX, name: "print".into() });
    assert_eq!(labels[1..], assembly.labels);
}

#[test]
fn jump_table_makes_version_2() {
    assert_eq!(image("a: enter 8\n.jumps\n.word a, 3").jump_table, Some(vec![0, 3]));
    assert_eq!(image(".version 2").jump_table, Some(vec![]));
    assert_eq!(image(".version 1\n.stack 16").zero_length, 16);
}

#[test]
fn constants_are_sums_of_those_above() {
    let text = ".equ size 8 + 'a' - 0x61\n.equ twice size + size\nenter twice-size";
    assert_eq!(image(text).code, [3, 8, 0, 0, 0]);
    assert_eq!(reason(".equ a b\n.equ b 1"), "line 1: not a constant defined above: b");
}

#[test]
fn errors_name_line_and_text() {
    for (text, expected) in [
        ("\n  frob 1", "line 2: unknown instruction: frob"),
        ("enter", "line 1: operand of enter missing"),
        ("pop 3", "line 1: unexpected text: 3"),
        ("const 1 2", "line 1: unexpected text: 2"),
        ("const nowhere", "line 1: name not defined: nowhere"),
        ("a: const @b\n@c:\nb: @b:", "line 1: name not defined: @b"),
        ("a:\na:", "line 2: name defined twice: a"),
        ("arg 256", "line 1: number out of range: 256 (expected -128 to 255)"),
        ("const 0x1ffffffff", "line 1: number out of range: 0x1ffffffff (max 4294967295)"),
        ("const 12z", "line 1: invalid number: 12z"),
        ("const +", "line 1: not a number or name: +"),
        (".data\npop", "line 2: instruction outside .code: pop"),
        (".data\n@a:", "line 2: local label outside .code: @a"),
        (".jumps\na:", "line 2: label in section .jumps"),
        (".bss\n.word 1", "line 2: .word not allowed in this section"),
        (".string \"a\"", "line 1: .string not allowed in this section"),
        (".lit\n.string \"a", "line 2: end of the quoted text missing"),
        (".lit\n.string \"\\q\"", "line 2: unknown escape"),
        (".lit\n.byte 'ab'", "line 2: not a single character in quotes"),
        (".bss\n.align 3", "line 2: invalid alignment: 3"),
        (".bss\n.space -1", "line 2: number out of range: -1"),
        (".bss\n.space 67108865", "line 2: number out of range: 67108865"),
        (".bss\n.space 67108864\n.space 1", "line 3: section too long (max 67108864 bytes)"),
        (".lit\n.space 16777216\n.byte 1", "line 3: section too long (max 16777216 bytes)"),
        (".frob", "line 1: unknown directive: .frob"),
        ("const 1\u{20ac}", "line 1: unexpected text: \u{20ac}"),
    ] {
        let reason = reason(text);
        assert!(reason.starts_with(expected), "{text:?}: {reason}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_accepted_or_rejected(text in "(const|.word|.string|@a|a|:|,|'|\"|\\\\|-|1|\n| |\\PC){0,40}") {
        let _ = assemble(&text);
    }
}
