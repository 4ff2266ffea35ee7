; Entries of a small game: the part that its modules share. Their code continues in `vmMain`, with labels for all
; entries of the table.

.equ ENTITY 516
.equ CLIENT 468
.equ ENTITIES 72

.service argv 9
.service locate 15
.service set_configstring 18
.service usercmd 36

.data
    .word 0
entries:
    .word init, shutdown, connect, begin, userinfo, disconnect, command, think, frame, console, bots
.bss
entities:
    .space 37152
clients:
    .space 29952
.code

; Byte 104 of the frame is word 0, the entry; byte 108 is word 1, the client.
vmMain:
    enter 96
    local 104
    load4
    const 2
    lsh
    const entries
    add
    load4
    jump

