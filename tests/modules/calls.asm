; Calls: recursion, arguments, return values, calls through memory, results without use.

;; 0 10 -> 55
;; 0 20 -> 6765
;; 1 7 -> 5040
;; 2 1000 -> 1000
;; 2 2000 -> fault call depth exceeds 1024 in descend
;; 3 -> fault program stack overflow in wide
;; 4 0 5 -> 6
;; 4 1 5 -> 10
;; 4 2 5 -> 25
;; 4 3 5 -> fault invalid call target 1
;; 4 4 5 -> fault invalid call target 99999
;; 5 3 -> 6
main:
    enter 20
    local 28
    load4
    const 2
    lsh
    const entries
    add
    load4
    jump

on_fibonacci:
    local 32
    load4
    arg 8
    const fibonacci
    call
    leave 20

on_factorial:
    local 32
    load4
    arg 8
    const factorial
    call
    leave 20

on_descend:
    local 32
    load4
    arg 8
    const descend
    call
    leave 20

on_wide:
    const wide
    call
    leave 20

on_indirect:
    local 36
    load4
    arg 8
    local 32
    load4
    const 2
    lsh
    const callees
    add
    load4
    call
    leave 20

; Two calls whose results are cells of one expression.
on_nested:
    local 32
    load4
    arg 8
    const increment
    call
    local 32
    load4
    arg 8
    const double
    call
    add
    const 4
    sub
    leave 20

fibonacci:
    enter 16
    local 24
    load4
    const 2
    gei @deeper
    local 24
    load4
    leave 16
@deeper:
    local 24
    load4
    const 1
    sub
    arg 8
    const fibonacci
    call
    local 24
    load4
    const 2
    sub
    arg 8
    const fibonacci
    call
    add
    leave 16

factorial:
    enter 16
    local 24
    load4
    const 1
    gti @deeper
    const 1
    leave 16
@deeper:
    local 24
    load4
    local 24
    load4
    const 1
    sub
    arg 8
    const factorial
    call
    muli
    leave 16

; Depth of a recursion. Each frame has 16 bytes, so the call depth ends it before the program stack.
descend:
    enter 16
    local 24
    load4
    const 0
    ne @deeper
    const 0
    leave 16
@deeper:
    local 24
    load4
    const 1
    sub
    arg 8
    const descend
    call
    const 1
    add
    leave 16

; Recursion with frames of a kilobyte, without end.
wide:
    enter 1024
    const wide
    call
    leave 1024

increment:
    enter 8
    local 16
    load4
    const 1
    add
    leave 8

double:
    enter 8
    local 16
    load4
    local 16
    load4
    add
    leave 8

square:
    enter 8
    local 16
    load4
    local 16
    load4
    muli
    leave 8

.data
    .word 0
entries:
    .word on_fibonacci, on_factorial, on_descend, on_wide, on_indirect, on_nested
callees:
    .word increment, double, square, 1, 99999
