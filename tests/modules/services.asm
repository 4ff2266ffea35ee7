; Services of the test: 0 adds, 1 reports an error, 2 enters again, 3 returns the length of a text.

.service add 0
.service error 1
.service enter_again 2
.service length 3
.service unknown 55

;; 0 1 2 3 -> 321
;; 1 -> fault module error: stopped by the module in main+
;; 2 0 -> 100
;; 2 5 -> 105
;; 2 7 -> 107
;; 2 8 -> fault nested entry: nested entry:
;; 3 -> 12
;; 4 -> fault unknown service 55 in main+
;; 5 -1 6 -> 6
;; 5 -2147483648 -> fault unknown service 2147483647
main:
    enter 72
    local 80
    load4
    const 2
    lsh
    const cases
    add
    load4
    jump

add_case:
    local 84
    load4
    arg 8
    local 88
    load4
    arg 12
    local 92
    load4
    arg 16
    const add
    call
    leave 72

error_case:
    const reason
    arg 8
    const error
    call
    leave 72

; Entries inside entries, as many as word 1.
nested_case:
    local 84
    load4
    const 0
    ne @deeper
    const 100
    leave 72
@deeper:
    const 2
    arg 8
    local 84
    load4
    const 1
    sub
    arg 12
    const enter_again
    call
    const 1
    add
    leave 72

length_case:
    const text
    arg 8
    const length
    call
    leave 72

unknown_case:
    const unknown
    call
    leave 72

; Service by a computed number.
computed_case:
    local 88
    load4
    arg 8
    const 0
    arg 12
    const 0
    arg 16
    local 84
    load4
    call
    leave 72

.data
    .word 0
cases:
    .word add_case, error_case, nested_case, length_case, unknown_case, computed_case
.lit
reason:
    .string "stopped by the module"
text:
    .string "twelve bytes"
