; Endless loops and recursions, and work that a budget allows. Each module starts with ";; module".

;; module endless_loop
;; budget 100000
;; 0 -> fault instruction budget exhausted in main+
main:
    enter 8
@loop:
    const @loop
    jump
    const 0
    leave 8

;; module endless_branch
;; budget 100000
;; 0 -> fault instruction budget exhausted in main+
main:
    enter 8
@loop:
    const 0
    const 0
    eq @loop
    const 0
    leave 8

;; module endless_computed_jump
;; budget 100000
;; 0 -> fault instruction budget exhausted in main+
main:
    enter 8
loop:
    const target
    load4
    jump
    const 0
    leave 8
.data
target:
    .word loop

;; module loop_of_calls
;; budget 100000
;; 0 1000 -> 1000
;; 0 100000 -> fault instruction budget exhausted in
main:
    enter 16
    local 8
    const 0
    store4
@loop:
    const nothing
    call
    pop
    local 8
    local 8
    load4
    const 1
    add
    store4
    local 8
    load4
    local 28
    load4
    ltu @loop
    local 8
    load4
    leave 16
nothing:
    enter 8
    push
    leave 8

;; module large_copies
;; budget 100000
;; 0 -> fault instruction budget exhausted in main+
main:
    enter 8
@loop:
    const 4
    const 8
    block_copy 60000
    const 0
    const 0
    eq @loop
    const 0
    leave 8

;; module large_frame
;; 0 -> fault program stack overflow in main+0
main:
    enter 131072
    const 0
    leave 131072
