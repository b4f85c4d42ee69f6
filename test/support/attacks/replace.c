/*
 * Makes PID 1 become another program: the one that the argument names, which is then all that the host finds as the
 * first process of the sandbox. Prints -errno, or 0.
 */
#include "pid1.h"

enum { AT_PATH = 0, AT_ARGUMENTS = 512 };

int main(int count, char **arguments) {
  static char memory[MEMORY_BYTES];
  if (count < 2) return 2;
  attach_to_pid1();
  strcpy(memory + AT_PATH, arguments[1]);
  unsigned long list[2] = {pid1_memory + AT_PATH, 0};
  memcpy(memory + AT_ARGUMENTS, list, sizeof list);
  write_to_pid1(memory);
  long answer = call_in_pid1(SYS_execve, pid1_memory + AT_PATH, pid1_memory + AT_ARGUMENTS, 0, 0, 0, 0);
  printf("%ld\n", answer < 0 && answer > -4096 ? answer : 0);
  if (answer < 0 && answer > -4096) detach_from_pid1();
  else ptrace(PTRACE_DETACH, PID1, 0, 0);
  return 0;
}
