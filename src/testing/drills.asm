; A game for drills, behind the shared entries: the console calls any service with any words, jumps, recurses, loops
; and makes bots.
;
; xcall COUNT SERVICE WORD...   calls a service COUNT times; the last result is configstring 40, in hexadecimal
; xjump N, xfunc N              computed jump and call
; xload N, xcopy FROM TO        accesses memory at N; copies a block
; xrecurse, xspin               recursion and loop without end
; xbot                          makes a bot that says what it is told

.service set_userinfo 21
.service allocate_bot 34
.service fill 100
.service setup_library 200
.service bot_view 209
.service bot_message 210
.service bot_usercmd 211
.service bot_say 400

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
    const long
    arg 8
    const 'x'
    arg 12
    const 20000
    arg 16
    const fill
    call
    pop
    const setup_library
    call
    leave 96

connect:
    local 108
    load4
    arg 8
    const occupy
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
    local 108
    load4
    const 1
    add
    const bot
    load4
    ne @human
    const 43
    arg 8
    const moved
    arg 12
    const set_configstring
    call
    leave 96
@human:
    const 0
    leave 96

shutdown:
begin:
userinfo:
disconnect:
frame:
    const 0
    leave 96

; A client command: its first argument becomes configstring 42.
command:
    const 1
    arg 8
    const text
    arg 12
    const 64
    arg 16
    const argv
    call
    pop
    const 42
    arg 8
    const text
    arg 12
    const set_configstring
    call
    leave 96

; Frame of the bots: moves the bot, reads a command for it and its snapshot.
bots:
    const bot
    load4
    const 0
    eq @none
    const command_record
    local 108
    load4
    store4
    const bot
    load4
    const 1
    sub
    arg 8
    const command_record
    arg 12
    const bot_usercmd
    call
    pop
    const result
    const bot
    load4
    const 1
    sub
    arg 8
    const 0
    arg 12
    const bot_view
    call
    store4
    const 44
    arg 8
    const show
    call
    pop
    const bot
    load4
    const 1
    sub
    arg 8
    const text
    arg 12
    const 64
    arg 16
    const bot_message
    call
    const 0
    eq @none
    const 41
    arg 8
    const text
    arg 12
    const set_configstring
    call
    leave 96
@none:
    const 0
    leave 96

console:
    const 0
    arg 8
    const text
    arg 12
    const 64
    arg 16
    const argv
    call
    pop
    const text + 1
    load1
    const 'c'
    eq @call
    const text + 1
    load1
    const 'j'
    eq @jump
    const text + 1
    load1
    const 'f'
    eq @func
    const text + 1
    load1
    const 'l'
    eq @load
    const text + 1
    load1
    const 'r'
    eq @recurse
    const text + 1
    load1
    const 's'
    eq @spin
    const text + 1
    load1
    const 'b'
    eq @bot
    const 0
    leave 96
@jump:
    const 1
    arg 8
    const number
    call
    jump
@func:
    const 1
    arg 8
    const number
    call
    call
    leave 96
@load:
    const 1
    arg 8
    const number
    call
    arg 12
    local 12
    load4
    local 12
    load4
    load1
    store1
    local 12
    load4
    local 12
    load4
    load2
    store2
    local 12
    load4
    local 12
    load4
    load4
    store4
    const 1
    leave 96
@recurse:
    const deeper
    call
    leave 96
@spin:
    const @spin
    jump
@bot:
    const result
    const allocate_bot
    call
    store4
    const result
    load4
    const 0
    lti @full
    const bot
    const result
    load4
    const 1
    add
    store4
    const result
    load4
    arg 8
    const info
    arg 12
    const set_userinfo
    call
    pop
    const result
    load4
    arg 8
    const occupy
    call
    pop
    const result
    load4
    arg 8
    const greeting
    arg 12
    const bot_say
    call
    pop
@full:
    const 40
    arg 8
    const show
    call
    leave 96
@call:
    const text + 2
    load1
    const 'o'
    eq @copy
    const count
    const 1
    arg 8
    const number
    call
    store4
    const service
    const 2
    arg 8
    const number
    call
    store4
    const index
    const 0
    store4
@words:
    const index
    load4
    const 2
    lsh
    const words
    add
    const index
    load4
    const 3
    add
    arg 8
    const number
    call
    store4
    const index
    const index
    load4
    const 1
    add
    store4
    const index
    load4
    const 15
    lti @words
    ; A setting named like the command would hide it.
    const text
    const 'y'
    store1
@again:
    const words + 0
    load4
    arg 8
    const words + 4
    load4
    arg 12
    const words + 8
    load4
    arg 16
    const words + 12
    load4
    arg 20
    const words + 16
    load4
    arg 24
    const words + 20
    load4
    arg 28
    const words + 24
    load4
    arg 32
    const words + 28
    load4
    arg 36
    const words + 32
    load4
    arg 40
    const words + 36
    load4
    arg 44
    const words + 40
    load4
    arg 48
    const words + 44
    load4
    arg 52
    const words + 48
    load4
    arg 56
    const words + 52
    load4
    arg 60
    const words + 56
    load4
    arg 64
    const result
    const service
    load4
    bcom
    call
    store4
    const count
    const count
    load4
    const 1
    sub
    store4
    const count
    load4
    const 0
    gti @again
    const 40
    arg 8
    const show
    call
    pop
    const 1
    leave 96
@copy:
    const 2
    arg 8
    const number
    call
    const 1
    arg 8
    const number
    call
    block_copy 4096
    const 1
    leave 96

nothing:
    enter 8
    const 0
    leave 8

; Gives a client its number, in its playerstate and its entity.
occupy:
    enter 16
    local 24
    load4
    const CLIENT
    muli
    const clients + 140
    add
    local 24
    load4
    store4
    local 24
    load4
    const ENTITY
    muli
    const entities
    add
    local 24
    load4
    store4
    const 0
    leave 16

; Word N of the command as a number.
number:
    enter 32
    local 40
    load4
    arg 8
    const digits
    arg 12
    const 16
    arg 16
    const argv
    call
    pop
    const cursor
    const digits
    store4
    const value
    const 0
    store4
    const digits
    load1
    const '-'
    ne @next
    const cursor
    const digits + 1
    store4
@next:
    const cursor
    load4
    load1
    const '0'
    lti @end
    const value
    const value
    load4
    const 10
    muli
    const cursor
    load4
    load1
    add
    const '0'
    sub
    store4
    const cursor
    const cursor
    load4
    const 1
    add
    store4
    const @next
    jump
@end:
    const digits
    load1
    const '-'
    ne @positive
    const value
    load4
    negi
    leave 32
@positive:
    const value
    load4
    leave 32

; Sets configstring N to the result in hexadecimal.
show:
    enter 32
    const index
    const 0
    store4
@digit:
    const shown
    const index
    load4
    add
    const alphabet
    const result
    load4
    const 28
    const index
    load4
    const 2
    lsh
    sub
    rshu
    const 15
    band
    add
    load1
    store1
    const index
    const index
    load4
    const 1
    add
    store4
    const index
    load4
    const 8
    lti @digit
    local 40
    load4
    arg 8
    const shown
    arg 12
    const set_configstring
    call
    pop
    const 0
    leave 32

deeper:
    enter 16
    const deeper
    call
    leave 16

.lit
alphabet:
    .string "0123456789abcdef"
moved:
    .string "moved"
info:
    .string "\\name\\drone"
greeting:
    .string "hello"
script:
    .string "botfiles/drill.c"
    .align 4
.bss
command_record:
    .space 24
result:
    .space 4
bot:
    .space 4
count:
    .space 4
service:
    .space 4
index:
    .space 4
cursor:
    .space 4
value:
    .space 4
words:
    .space 60
digits:
    .space 16
shown:
    .space 16
text:
    .space 64
long:
    .space 20004
