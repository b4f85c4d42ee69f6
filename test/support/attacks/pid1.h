/*
 * Makes PID 1 of a sandbox execute system calls: whoever may trace it can set its registers. PID 1 sleeps in a system
 * call, so the two bytes before its instruction pointer are `syscall`, and they are executed once more with other
 * registers. Where something else stands there, `syscall` is written over it: the kernel lets a tracer write to code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID1 = 1, MEMORY_BYTES = 4096 };

static struct user_regs_struct pid1_registers;
static long pid1_code;
/* A piece of PID 1's stack that it does not use: arguments and results of its calls. */
static unsigned long pid1_memory;

/* Exits with 3 when PID 1 cannot be traced at all, which refuses everything. */
static inline void attach_to_pid1(void) {
  int status;
  if (ptrace(PTRACE_SEIZE, PID1, 0, 0) || ptrace(PTRACE_INTERRUPT, PID1, 0, 0)) {
    printf("trace\t%d\n", -errno);
    exit(3);
  }
  waitpid(PID1, &status, __WALL);
  ptrace(PTRACE_GETREGS, PID1, 0, &pid1_registers);
  pid1_memory = (pid1_registers.rsp - 3 * MEMORY_BYTES) & ~0xfUL;
  pid1_code = ptrace(PTRACE_PEEKTEXT, PID1, pid1_registers.rip - 2, 0);
  if ((pid1_code & 0xffff) != 0x050f) ptrace(PTRACE_POKETEXT, PID1, pid1_registers.rip - 2, (pid1_code & ~0xffffL) | 0x050f);
}

static inline void detach_from_pid1(void) {
  if ((pid1_code & 0xffff) != 0x050f) ptrace(PTRACE_POKETEXT, PID1, pid1_registers.rip - 2, pid1_code);
  ptrace(PTRACE_SETREGS, PID1, 0, &pid1_registers);
  ptrace(PTRACE_DETACH, PID1, 0, 0);
}

/* What the system call answers in PID 1: -errno when it fails. */
static inline long call_in_pid1(long number, long a, long b, long c, long d, long e, long f) {
  struct user_regs_struct registers = pid1_registers;
  int status;
  registers.rax = number;
  registers.rdi = a;
  registers.rsi = b;
  registers.rdx = c;
  registers.r10 = d;
  registers.r8 = e;
  registers.r9 = f;
  registers.orig_rax = -1; /* no restart of the call that was interrupted */
  registers.rip = pid1_registers.rip - 2;
  ptrace(PTRACE_SETREGS, PID1, 0, &registers);
  ptrace(PTRACE_SINGLESTEP, PID1, 0, 0);
  waitpid(PID1, &status, __WALL);
  ptrace(PTRACE_GETREGS, PID1, 0, &registers);
  return (long)registers.rax;
}

static inline void copy_pid1(char *bytes, ssize_t (*copy)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long)) {
  struct iovec here = {bytes, MEMORY_BYTES}, there = {(void *)pid1_memory, MEMORY_BYTES};
  if (copy(PID1, &here, 1, &there, 1, 0) != MEMORY_BYTES) printf("memory\t%d\n", -errno);
}
static inline void write_to_pid1(char *bytes) { copy_pid1(bytes, process_vm_writev); }
static inline void read_from_pid1(char *bytes) { copy_pid1(bytes, process_vm_readv); }
