; Modules that the verifier rejects, each with the reason.

;; module no_entry
;; rejected first instruction is not enter
    const 0
    leave 8

;; module undefined_operation
;; rejected unknown operation 0
main:
    enter 8
    undefined
    push
    leave 8

;; module negative_frame
;; rejected invalid frame size -8
    enter -8
    push
    leave -8

;; module odd_frame
;; rejected invalid frame size 10
    enter 10
    push
    leave 10

;; module large_frame
;; rejected invalid frame size 67108868
    enter 67108868
    push
    leave 67108868

;; module frame_mismatch
;; rejected leave 12 differs from enter 8 at main+2 (instruction 2), file offset
main:
    enter 8
    push
    leave 12

;; module fall_through
;; rejected function ends without leave or jump at main+2
main:
    enter 8
    push
    pop
next:
    enter 8
    push
    leave 8

;; module end_of_code
;; rejected function ends without leave or jump
main:
    enter 8
    push

;; module branch_into_other_function
;; rejected target 5 is outside the function at main+3
main:
    enter 8
    const 1
    const 2
    eq inside
    enter 8
inside:
    push
    leave 8

;; module branch_to_enter
;; rejected target 0 is outside the function
main:
    enter 8
    const 1
    const 2
    eq main
    push
    leave 8

;; module branch_beyond_code
;; rejected target 99 is outside the function
    enter 8
    const 1
    const 2
    eq 99
    push
    leave 8

;; module negative_branch
;; rejected target -1 is outside the function
    enter 8
    const 1
    const 2
    eq -1
    push
    leave 8

;; module jump_outside
;; rejected target 7 is outside the function
    enter 8
    const 7
    jump
    push
    leave 8

;; module call_into_function
;; rejected call target 1 is not a function
    enter 8
    const 1
    call
    leave 8

;; module call_beyond_code
;; rejected call target 4 is not a function
    enter 8
    const 4
    call
    leave 8

;; module underflow
;; rejected operand stack underflow: 1 cells
    enter 8
    const 1
    add
    leave 8

;; module leave_without_result
;; rejected operand stack underflow: 0 cells
    enter 8
    leave 8

;; module leave_with_two_cells
;; rejected leave with 2 cells on the operand stack
    enter 8
    push
    push
    leave 8

;; module different_depths
;; rejected operand stack differs between paths
    enter 8
    const 1
    const 2
    eq @end
    push
@end:
    push
    leave 8

;; module growing_loop
;; rejected operand stack differs between paths
    enter 8
@loop:
    push
    const 1
    const 2
    eq @loop
    leave 8

;; module computed_jump_with_cells
;; rejected computed jump with 1 cells on the operand stack
    enter 8
    const 1
    local 16
    load4
    jump

;; module negative_copy
;; rejected invalid length of block copy: -1
    enter 8
    const 0
    const 0
    block_copy -1
    push
    leave 8
