/*
 * Shows how many pseudo-terminals one sandbox can take: several processes open as many as they are given and hold them
 * until /root/let-go exists. Prints how many were opened.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 3, EACH = 500 };

static int open_all(void) {
  int count = 0;
  while (count < EACH && open("/dev/ptmx", O_RDWR | O_NOCTTY) >= 0) count++;
  return count;
}

int main(void) {
  struct rlimit files = {EACH + 100, EACH + 100};
  int answers[2], opened = 0, count;
  setrlimit(RLIMIT_NOFILE, &files);
  pipe(answers);
  for (int process = 0; process < PROCESSES; process++) {
    if (fork()) continue;
    count = open_all();
    write(answers[1], &count, sizeof count);
    while (access("/root/let-go", F_OK)) usleep(10000);
    _exit(0);
  }
  for (int process = 0; process < PROCESSES && read(answers[0], &count, sizeof count) == sizeof count; process++) opened += count;
  printf("%d\n", opened);
  fflush(stdout);
  while (wait(NULL) > 0) continue;
  return 0;
}
