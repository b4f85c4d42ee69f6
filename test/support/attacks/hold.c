/* Stops PID 1 as a debugger does, and never lets it go on. Says `held` once it stands. */
#include "pid1.h"

int main(void) {
  attach_to_pid1();
  puts("held");
  fflush(stdout);
  for (;;) pause();
}
