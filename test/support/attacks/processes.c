/*
 * Shows whether the most processes of a sandbox count those that PID 1 makes: forks in PID 1 until that fails.
 * The children sleep in the system call that PID 1 sleeps in. Prints how many there were, and -errno of the last try.
 */
#include "pid1.h"

enum { TRIES = 2000 };

int main(void) {
  int made = 0;
  long last = 0;
  attach_to_pid1();
  while (made < TRIES && (last = call_in_pid1(SYS_fork, 0, 0, 0, 0, 0, 0)) > 0) made++;
  detach_from_pid1();
  printf("%d\t%ld\n", made, last > 0 ? 0 : last);
  return 0;
}
