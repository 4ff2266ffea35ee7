; One case for each operation. Word 0 of the entry is the number of the operation.
; A line ";; NAME WORDS -> RESULT" is a case: tests/it/qvm/modules.rs enters with the number of the
; operation and the words. NAME is a mnemonic.

main:
    enter 20
    local 28                    ; word 0
    load4
    const 2
    lsh
    const cases
    add
    load4
    jump

;; ignore 7 -> 7
op_ignore:
    local 32
    load4
    ignore
    leave 20

;; break 7 -> 7
op_break:
    local 32
    load4
    break
    leave 20

;; enter 5 -> 105
op_enter:
    local 32
    load4
    arg 8
    const add_100
    call
    leave 20

;; leave 5 -> 205
op_leave:
    local 32
    load4
    arg 8
    const add_100
    call
    arg 8
    const add_100
    call
    leave 20

;; call 5 -> 6
;; call -1 -> -2
op_call:
    local 32
    load4
    arg 8
    const indirect
    load4
    call
    leave 20

;; push 9 -> 9
op_push:
    push
    pop
    local 32
    load4
    leave 20

;; pop 9 -> 9
op_pop:
    local 32
    load4
    const 3
    pop
    leave 20

;; const 0 -> -2147483648
op_const:
    const -2147483648
    leave 20

;; local 1234 -> 1234
op_local:
    local 16
    local 32
    load4
    store4
    local 16
    load4
    leave 20

;; jump 1 -> 11
;; jump 2 -> 22
op_jump:
    local 32
    load4
    const 4
    muli
    const targets - 4
    add
    load4
    jump
first:
    const 11
    leave 20
second:
    const @past
    jump
    const 0
    leave 20
@past:
    const 22
    leave 20

;; eq 1 1 -> 1
;; eq 1 2 -> 0
op_eq:
    local 32
    load4
    local 36
    load4
    eq @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; ne 1 1 -> 0
;; ne 1 2 -> 1
op_ne:
    local 32
    load4
    local 36
    load4
    ne @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; lti -1 1 -> 1
;; lti 1 -1 -> 0
;; lti 1 1 -> 0
op_lti:
    local 32
    load4
    local 36
    load4
    lti @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; lei -1 1 -> 1
;; lei 1 -1 -> 0
;; lei 1 1 -> 1
op_lei:
    local 32
    load4
    local 36
    load4
    lei @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; gti -1 1 -> 0
;; gti 1 -1 -> 1
;; gti 1 1 -> 0
op_gti:
    local 32
    load4
    local 36
    load4
    gti @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; gei -1 1 -> 0
;; gei 1 -1 -> 1
;; gei 1 1 -> 1
op_gei:
    local 32
    load4
    local 36
    load4
    gei @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; ltu -1 1 -> 0
;; ltu 1 -1 -> 1
;; ltu 1 1 -> 0
op_ltu:
    local 32
    load4
    local 36
    load4
    ltu @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; leu -1 1 -> 0
;; leu 1 -1 -> 1
;; leu 1 1 -> 1
op_leu:
    local 32
    load4
    local 36
    load4
    leu @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; gtu -1 1 -> 1
;; gtu 1 -1 -> 0
;; gtu 1 1 -> 0
op_gtu:
    local 32
    load4
    local 36
    load4
    gtu @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; geu -1 1 -> 1
;; geu 1 -1 -> 0
;; geu 1 1 -> 1
op_geu:
    local 32
    load4
    local 36
    load4
    geu @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; eqf 1.5f 1.5f -> 1
;; eqf 1.5f -1.5f -> 0
;; eqf 0.0f -0.0f -> 1
;; eqf 0x7fc00000 0x7fc00000 -> 0
op_eqf:
    local 32
    load4
    local 36
    load4
    eqf @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; nef 1.5f 1.5f -> 0
;; nef 1.5f -1.5f -> 1
;; nef 0.0f -0.0f -> 0
;; nef 0x7fc00000 0x7fc00000 -> 1
op_nef:
    local 32
    load4
    local 36
    load4
    nef @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; ltf -1.5f 1.5f -> 1
;; ltf 1.5f -1.5f -> 0
;; ltf 1.5f 1.5f -> 0
;; ltf 0x7fc00000 1.5f -> 0
op_ltf:
    local 32
    load4
    local 36
    load4
    ltf @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; lef -1.5f 1.5f -> 1
;; lef 1.5f -1.5f -> 0
;; lef 1.5f 1.5f -> 1
;; lef 0x7fc00000 1.5f -> 0
op_lef:
    local 32
    load4
    local 36
    load4
    lef @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; gtf -1.5f 1.5f -> 0
;; gtf 1.5f -1.5f -> 1
;; gtf 1.5f 1.5f -> 0
;; gtf 0x7fc00000 1.5f -> 0
op_gtf:
    local 32
    load4
    local 36
    load4
    gtf @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; gef -1.5f 1.5f -> 0
;; gef 1.5f -1.5f -> 1
;; gef 1.5f 1.5f -> 1
;; gef 0x7fc00000 1.5f -> 0
op_gef:
    local 32
    load4
    local 36
    load4
    gef @true
    const 0
    leave 20
@true:
    const 1
    leave 20

;; load1 0 -> 0x88
;; load1 3 -> 0xf1
;; load1 4 -> 4
op_load1:
    local 32
    load4
    const bytes
    add
    load1
    leave 20

;; load2 0 -> 0x8288
;; load2 2 -> 0xf184
op_load2:
    local 32
    load4
    const bytes
    add
    load2
    leave 20

;; load4 0 -> 0xf1848288
;; load4 4 -> 0x04030204
op_load4:
    local 32
    load4
    const bytes
    add
    load4
    leave 20

;; store1 0x11223344 -> 0xaaaaaa44
op_store1:
    const cell
    const 0xaaaaaaaa
    store4
    const cell
    local 32
    load4
    store1
    const cell
    load4
    leave 20

;; store2 0x11223344 -> 0xaaaa3344
op_store2:
    const cell
    const 0xaaaaaaaa
    store4
    const cell
    local 32
    load4
    store2
    const cell
    load4
    leave 20

;; store4 0x11223344 -> 0x11223344
op_store4:
    const cell
    local 32
    load4
    store4
    const cell
    load4
    leave 20

;; arg 77 88 -> 7788
op_arg:
    local 32
    load4
    arg 8
    local 36
    load4
    arg 12
    local 8
    load4
    const 100
    muli
    local 12
    load4
    add
    leave 20

;; block_copy 0 -> 0xf1848288
;; block_copy 4 -> 0x04030204
op_block_copy:
    const cell
    local 32
    load4
    const bytes
    add
    block_copy 4
    const cell
    load4
    leave 20

;; sex8 0x17f -> 127
;; sex8 0x180 -> -128
op_sex8:
    local 32
    load4
    sex8
    leave 20

;; sex16 0x17fff -> 32767
;; sex16 0x18000 -> -32768
op_sex16:
    local 32
    load4
    sex16
    leave 20

;; negi 5 -> -5
;; negi -2147483648 -> -2147483648
op_negi:
    local 32
    load4
    negi
    leave 20

;; add 2 3 -> 5
;; add 0x7fffffff 1 -> -2147483648
op_add:
    local 32
    load4
    local 36
    load4
    add
    leave 20

;; sub 2 3 -> -1
;; sub -2147483648 1 -> 0x7fffffff
op_sub:
    local 32
    load4
    local 36
    load4
    sub
    leave 20

;; divi 7 2 -> 3
;; divi -7 2 -> -3
;; divi 7 -2 -> -3
;; divi -2147483648 -1 -> -2147483648
;; divi 1 0 -> fault division by zero
op_divi:
    local 32
    load4
    local 36
    load4
    divi
    leave 20

;; divu 7 2 -> 3
;; divu -2 2 -> 0x7fffffff
;; divu -2147483648 -1 -> 0
;; divu 1 0 -> fault division by zero
op_divu:
    local 32
    load4
    local 36
    load4
    divu
    leave 20

;; modi 7 3 -> 1
;; modi -7 3 -> -1
;; modi 7 -3 -> 1
;; modi -2147483648 -1 -> 0
;; modi 1 0 -> fault division by zero
op_modi:
    local 32
    load4
    local 36
    load4
    modi
    leave 20

;; modu 7 3 -> 1
;; modu -1 10 -> 5
;; modu 1 0 -> fault division by zero
op_modu:
    local 32
    load4
    local 36
    load4
    modu
    leave 20

;; muli -3 5 -> -15
;; muli 0x10001 0x10001 -> 0x20001
op_muli:
    local 32
    load4
    local 36
    load4
    muli
    leave 20

;; mulu -3 5 -> -15
;; mulu 0xffffffff 0xffffffff -> 1
op_mulu:
    local 32
    load4
    local 36
    load4
    mulu
    leave 20

;; band 12 10 -> 8
op_band:
    local 32
    load4
    local 36
    load4
    band
    leave 20

;; bor 12 10 -> 14
op_bor:
    local 32
    load4
    local 36
    load4
    bor
    leave 20

;; bxor 12 10 -> 6
op_bxor:
    local 32
    load4
    local 36
    load4
    bxor
    leave 20

;; bcom 0 -> -1
;; bcom 0x0f0f0f0f -> 0xf0f0f0f0
op_bcom:
    local 32
    load4
    bcom
    leave 20

;; lsh 1 4 -> 16
;; lsh 1 33 -> 2
;; lsh 1 -1 -> -2147483648
op_lsh:
    local 32
    load4
    local 36
    load4
    lsh
    leave 20

;; rshi -16 2 -> -4
;; rshi -16 34 -> -4
;; rshi 16 2 -> 4
op_rshi:
    local 32
    load4
    local 36
    load4
    rshi
    leave 20

;; rshu -16 28 -> 15
;; rshu -16 60 -> 15
op_rshu:
    local 32
    load4
    local 36
    load4
    rshu
    leave 20

;; negf 1.5f -> -1.5f
;; negf 0.0f -> -0.0f
;; negf 0x7fc00000 -> 0xffc00000
op_negf:
    local 32
    load4
    negf
    leave 20

;; addf 1.5f 2.25f -> 3.75f
;; addf 16777216.0f 1.0f -> 16777216.0f
;; addf 0x7f800000 0xff800000 -> 0x7fc00000
op_addf:
    local 32
    load4
    local 36
    load4
    addf
    leave 20

;; subf 1.5f 2.25f -> -0.75f
;; subf 0x7f800000 0x7f800000 -> 0x7fc00000
op_subf:
    local 32
    load4
    local 36
    load4
    subf
    leave 20

;; divf 3.0f 2.0f -> 1.5f
;; divf 1.0f 0.0f -> 0x7f800000
;; divf 0.0f 0.0f -> 0x7fc00000
;; divf 1.0f 3.0f -> 0x3eaaaaab
op_divf:
    local 32
    load4
    local 36
    load4
    divf
    leave 20

;; mulf 1.5f -2.0f -> -3.0f
;; mulf 1e30f 1e30f -> 0x7f800000
;; mulf 1e-30f 1e-15f -> 1e-45f
;; mulf 0.0f 0x7f800000 -> 0x7fc00000
op_mulf:
    local 32
    load4
    local 36
    load4
    mulf
    leave 20

;; cvif -3 -> -3.0f
;; cvif 16777217 -> 16777216.0f
;; cvif 0x7fffffff -> 2147483648.0f
op_cvif:
    local 32
    load4
    cvif
    leave 20

;; cvfi 2.75f -> 2
;; cvfi -2.75f -> -2
;; cvfi 2147483648.0f -> -2147483648
;; cvfi -1e20f -> -2147483648
;; cvfi 0x7fc00000 -> -2147483648
;; cvfi 1e-45f -> 0
op_cvfi:
    local 32
    load4
    cvfi
    leave 20

;; undefined -> fault invalid jump target 0
;; 60 -> fault invalid jump target 99999
;; -1 -> fault invalid jump target -5

; Argument plus 100.
add_100:
    enter 8
    local 16
    load4
    const 100
    add
    leave 8

; Successor of the argument, or predecessor if it is negative.
step:
    enter 8
    local 16
    load4
    const 0
    lti @below
    local 16
    load4
    const 1
    add
    leave 8
@below:
    local 16
    load4
    const 1
    sub
    leave 8

.data
    .word 0, 0, -5
; The word of operation 0 is not the start of a case.
cases:
    .word 0
    .word op_ignore, op_break, op_enter, op_leave, op_call, op_push
    .word op_pop, op_const, op_local, op_jump, op_eq, op_ne
    .word op_lti, op_lei, op_gti, op_gei, op_ltu, op_leu
    .word op_gtu, op_geu, op_eqf, op_nef, op_ltf, op_lef
    .word op_gtf, op_gef, op_load1, op_load2, op_load4, op_store1
    .word op_store2, op_store4, op_arg, op_block_copy, op_sex8, op_sex16
    .word op_negi, op_add, op_sub, op_divi, op_divu, op_modi
    .word op_modu, op_muli, op_mulu, op_band, op_bor, op_bxor
    .word op_bcom, op_lsh, op_rshi, op_rshu, op_negf, op_addf
    .word op_subf, op_divf, op_mulf, op_cvif, op_cvfi
    .word 99999
targets:
    .word first, second
indirect:
    .word step

.lit
bytes:
    .byte 0x88, 0x82, 0x84, 0xf1, 4, 2, 3, 4

.bss
cell:
    .space 4
