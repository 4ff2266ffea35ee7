; Program stack: from the end of the block, 131,072 bytes, down to the end of the zeroed space at 8,200.
; Word 1 is a value, which the first byte of the zeroed space's last word keeps.

;; 0 7 -> 7
; Two frames of 50,000 bytes, of which the lower one ends above the zeroed space.
;; 1 7 -> 21
; The lowest frame that fits ends at the zeroed space: 131,072 - 60 - 16 - 122,796 = 8,200.
;; 2 9 -> 9
; 4 bytes more.
;; 3 9 -> fault program stack overflow in past
; Overflow by many frames.
;; 4 2000 -> fault program stack overflow in deepen
; What was stored in the zeroed space is there.
;; 5 -> 7
main:
    enter 16
    local 24
    load4
    const 2
    lsh
    const cases
    add
    load4
    jump

on_store:
    const last
    local 28
    load4
    store4
    const last
    load4
    leave 16

on_wide:
    local 28
    load4
    arg 8
    const wide
    call
    leave 16

on_lowest:
    local 28
    load4
    arg 8
    const lowest
    call
    leave 16

on_past:
    const past
    call
    leave 16

on_deepen:
    local 28
    load4
    arg 8
    const deepen
    call
    leave 16

on_load:
    const last
    load4
    leave 16

; Stores its argument at both ends of its frame, and adds what the next function returns.
wide:
    enter 50000
    local 16
    local 50008
    load4
    store4
    local 49996
    local 50008
    load4
    store4
    local 16
    load4
    arg 8
    const wider
    call
    local 49996
    load4
    add
    leave 50000

wider:
    enter 50000
    local 16
    local 50008
    load4
    store4
    local 49996
    local 50008
    load4
    store4
    local 16
    load4
    local 49996
    load4
    add
    leave 50000

lowest:
    enter 122796
    local 0
    local 122804
    load4
    store4
    local 0
    load4
    leave 122796

past:
    enter 122800
    local 0
    const -1
    store4
    const 0
    leave 122800

deepen:
    enter 4096
    local 12
    const -1
    store4
    local 4104
    load4
    const 0
    eq @end
    local 4104
    load4
    const 1
    sub
    arg 8
    const deepen
    call
    leave 4096
@end:
    const 0
    leave 4096

.data
    .word 0
cases:
    .word on_store, on_wide, on_lowest, on_past, on_deepen, on_load
.bss
    .align 4
    .space 8168
last:
    .space 4
