; Computed jumps: allowed targets are those of the jump table, or of the data without a table.

;; module table
;; 1 -> 11
;; 2 -> fault invalid jump target
;; 3 -> fault invalid jump target
;; 4 -> fault invalid jump target -1
;; 5 -> fault invalid jump target
main:
    enter 8
    local 16
    load4
    const 2
    lsh
    const targets
    add
    load4
    jump
listed:
    const 11
    leave 8
unlisted:
    const 22
    leave 8
other:
    enter 8
    local 16
    load4
    jump
foreign:
    const 33
    leave 8
.data
targets:
    .word 0, listed, unlisted, foreign, -1, other
.jumps
    .word listed, foreign, other, 99999, -1

;; module deep_target
; An instruction with cells on the operand stack is not a target.
;; 0 -> fault invalid jump target
main:
    enter 8
    const target
    load4
    jump
    const 1
deep:
    const 2
    add
    leave 8
.data
target:
    .word deep

;; module conditional_cells
; Branches with cells on the operand stack, as a conditional expression gives them.
;; 0 1 -> 107
;; 0 0 -> 105
main:
    enter 8
    const 100
    local 20
    load4
    const 0
    eq @zero
    const 7
    const @end
    jump
@zero:
    const 5
@end:
    add
    leave 8
