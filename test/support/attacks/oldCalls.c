/*
 * Tries the system calls of 32-bit programs, which have other numbers: by itself, and in PID 1, whose code is written
 * over for it. Prints KEYCTL_GET_KEYRING_ID of both (-errno), or `none` where the kernel does not have them.
 */
#include "pid1.h"

enum { OLD_KEYCTL = 288 };

static long old_call_in_pid1(long number, long a, long b, long c, int *signal) {
  struct user_regs_struct registers = pid1_registers;
  unsigned long at = pid1_registers.rip - 2;
  long code = ptrace(PTRACE_PEEKTEXT, PID1, at, 0);
  int status;
  ptrace(PTRACE_POKETEXT, PID1, at, (code & ~0xffffL) | 0x80cd); /* int 0x80 */
  registers.rax = number;
  registers.rbx = a;
  registers.rcx = b;
  registers.rdx = c;
  registers.orig_rax = -1;
  registers.rip = at;
  ptrace(PTRACE_SETREGS, PID1, 0, &registers);
  ptrace(PTRACE_SINGLESTEP, PID1, 0, 0);
  waitpid(PID1, &status, __WALL);
  ptrace(PTRACE_GETREGS, PID1, 0, &registers);
  ptrace(PTRACE_POKETEXT, PID1, at, code);
  *signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  return (int)registers.rax;
}

int main(void) {
  int here = 0, signal;
  pid_t child = fork();
  if (!child) {
    __asm__ volatile("int $0x80" : "=a"(here) : "a"(OLD_KEYCTL), "b"(0), "c"(-3), "d"(1) : "memory");
    printf("here\t%d\n", here);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, &here, 0);
  if (WIFSIGNALED(here)) puts("here\tnone");
  attach_to_pid1();
  long there = old_call_in_pid1(OLD_KEYCTL, 0, -3, 1, &signal);
  if (signal == SIGTRAP) printf("there\t%ld\n", there);
  else puts("there\tnone");
  detach_from_pid1();
  return 0;
}
