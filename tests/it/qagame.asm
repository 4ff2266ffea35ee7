; A small game, behind the shared entries: it writes what it reads to configstrings 20 to 23, and faults on commands
; of clients.

.service milliseconds 2
.service register 3
.service drop 16
.service trace 24
.service token 37

init:
    const entities
    arg 8
    const ENTITIES
    arg 12
    const ENTITY
    arg 16
    const clients
    arg 20
    const CLIENT
    arg 24
    const locate
    call
    pop
    const text
    arg 8
    const 64
    arg 12
    const token
    call
    pop
    const 20
    arg 8
    const text
    arg 12
    const set_configstring
    call
    pop
    const cvar
    arg 8
    const cvar_name
    arg 12
    const cvar_default
    arg 16
    const 0
    arg 20
    const register
    call
    pop
    const 21
    arg 8
    const cvar + 16
    arg 12
    const set_configstring
    call
    pop
    const result
    arg 8
    const start_point
    arg 12
    const 0
    arg 16
    const 0
    arg 20
    const end_point
    arg 24
    const -1
    arg 28
    const 1
    arg 32
    const trace
    call
    pop
    ; The integer of the setting is 7, the trace hits the world and starts in the open.
    const cvar + 12
    load4
    const 7
    ne @checked
    const result + 52
    load4
    const 1022
    ne @checked
    const result + 4
    load4
    const 0
    ne @checked
    const verdict
    const 'y'
    store1
@checked:
    const 22
    arg 8
    const verdict
    arg 12
    const set_configstring
    call
    leave 96

connect:
    local 108
    load4
    const 3
    ne @accepted
    const refusal
    leave 96
@accepted:
    local 108
    load4
    const CLIENT
    muli
    const clients + 140
    add
    local 108
    load4
    store4
    local 108
    load4
    const ENTITY
    muli
    const entities
    add
    local 108
    load4
    store4
    const 0
    leave 96

disconnect:
    const text
    const '0'
    local 108
    load4
    add
    store1
    const text + 1
    const 0
    store1
    const 23
    arg 8
    const text
    arg 12
    const set_configstring
    call
    leave 96

think:
    local 108
    load4
    arg 8
    const command_record
    arg 12
    const usercmd
    call
    pop
    local 108
    load4
    const CLIENT
    muli
    const clients
    add
    const command_record
    load4
    store4
    const 0
    leave 96

command:
    const 0
    arg 8
    const text
    arg 12
    const 64
    arg 16
    const argv
    call
    pop
    const text
    load1
    const 'd'
    eq @divide
    const text
    load1
    const 'c'
    eq @clock
    const text
    load1
    const 'r'
    eq @recurse
    const text
    load1
    const 'w'
    eq @wild
    const text + 1
    load1
    const 'o'
    eq @loop
    const text + 1
    load1
    const 'e'
    ne @other
    local 108
    load4
    arg 8
    const reason
    arg 12
    const drop
    call
    leave 96
@divide:
    const 1
    const 0
    divi
    leave 96
; The lowest digits of the clock in configstring 24.
@clock:
    const text
    const milliseconds
    call
    const 15
    band
    const 'A'
    add
    store1
    const text + 1
    const 0
    store1
    const 24
    arg 8
    const text
    arg 12
    const set_configstring
    call
    leave 96
@recurse:
    const deeper
    call
    leave 96
; A record that passes the end of the memory.
@wild:
    local 108
    load4
    arg 8
    const -4
    arg 12
    const usercmd
    call
    leave 96
@loop:
    const @loop
    jump
@other:
    const 0
    leave 96

shutdown:
begin:
userinfo:
frame:
console:
bots:
    const 0
    leave 96

deeper:
    enter 16
    const deeper
    call
    leave 16

.data
start_point:
    .word 0, 0, 100.0f
end_point:
    .word 0, 0, -1000.0f
.lit
cvar_name:
    .string "g_small"
cvar_default:
    .string "7.5"
refusal:
    .string "No room for you"
reason:
    .string "left by the game"
    .align 4
.bss
cvar:
    .space 272
result:
    .space 56
command_record:
    .space 24
text:
    .space 64
verdict:
    .space 4
