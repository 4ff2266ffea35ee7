; Memory: addresses wrap at the block of 131,072 bytes, words may pass its end by 3 bytes.
; Word 1 is an address, word 2 a value.

; Stores and loads of a word.
;; 0 0x1000 0x12345678 -> 0x12345678
;; 0 0 5 -> 5
;; 0 0x1001 0x12345678 -> 0x12345678
;; 0 0x1ffff 0x12345678 -> 0x12345678
;; 0 0xffffffff 0x12345678 -> 0x12345678
; A byte at an address beyond the block is stored in the block.
;; 1 0x21000 0x55 -> 0x55
;; 1 0xfffe1000 0x55 -> 0x55
;; 1 0x1000 0x155 -> 0x55
; Bytes pushed by one with a block copy: 1 2 3 4 5 becomes 1 1 2 3 4.
;; 2 0x1000 4 -> 0x03020101
; Block copies at the end of the block.
;; 3 0x1fff7 -> 0
;; 3 0x1fff8 -> fault block copy out of range: 8 bytes from 0x1000 to 0x1fff8
;; 3 0x21000 -> fault block copy out of range: 8 bytes from 0x1000 to 0x21000
;; 3 -1 -> fault block copy out of range: 8 bytes from 0x1000 to 0xffffffff
;; 4 -1 -> fault block copy out of range: 8 bytes from 0xffffffff to 0x1000
;; 4 0x1000 -> 0
; Zeroed space, literals, and address 0 with the 5 that a case above stored.
;; 5 -> 0x44434246
main:
    enter 20
    local 28
    load4
    const 2
    lsh
    const cases
    add
    load4
    jump

word_case:
    local 32
    load4
    local 36
    load4
    store4
    local 32
    load4
    load4
    leave 20

byte_case:
    local 32
    load4
    local 36
    load4
    store1
    const 0x1000
    load1
    leave 20

overlap_case:
    const 0x1000
    const numbers
    block_copy 8
    const 0x1001
    const 0x1000
    block_copy 5
    const 0x1000
    load4
    leave 20

target_case:
    local 32
    load4
    const 0x1000
    block_copy 8
    const 0
    leave 20

source_case:
    const 0x1000
    local 32
    load4
    block_copy 8
    const 0
    leave 20

content_case:
    const letters
    load4
    const zero
    load4
    add
    const 0
    load4
    add
    leave 20

.data
    .word 0
cases:
    .word word_case, byte_case, overlap_case, target_case, source_case, content_case
.lit
numbers:
    .byte 1, 2, 3, 4, 5, 6, 7, 8
letters:
    .string "ABCDE"
.bss
    .align 4
zero:
    .space 8192
