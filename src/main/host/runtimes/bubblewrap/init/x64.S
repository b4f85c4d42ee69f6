# The first process of a sandbox. It does nothing: it has the kernel reap what is orphaned (by ignoring SIGCHLD), says
# `ready`, and sleeps. It is position independent, needs no stack and no library. `firstProcess.ts` holds what
# `as` makes of it; a test compares them.
    .globl _start
_start:
    mov $13, %eax               # rt_sigaction(SIGCHLD, {SIG_IGN}, 0, 8)
    mov $17, %edi
    lea ignore(%rip), %rsi
    xor %edx, %edx
    mov $8, %r10d
    syscall
    mov $1, %eax                # write(1, "ready\n", 6)
    mov $1, %edi
    lea ready(%rip), %rsi
    mov $6, %edx
    syscall
    mov $3, %eax                # close(1)
    mov $1, %edi
    syscall
    mov $3, %eax                # close(2)
    mov $2, %edi
    syscall
sleep:
    mov $34, %eax               # pause()
    syscall
    jmp sleep
    .balign 8
ignore:
    .quad 1, 0, 0, 0            # handler SIG_IGN, flags, restorer, mask
ready:
    .ascii "ready\n"
