/*
 * As the shell and the first program of an image: notes in /root/ran-as-PID what it may do, then becomes the real shell.
 * Who starts it as PID 1 has run a program of the image before the sandbox was closed, or after.
 */
#include <stdio.h>
#include <unistd.h>

static void copy(FILE *to, const char *path) {
  char line[512];
  FILE *from = fopen(path, "r");
  if (!from) return;
  while (fgets(line, sizeof line, from)) fputs(line, to);
  fclose(from);
}

int main(int count, char **arguments) {
  char path[64];
  (void)count;
  sprintf(path, "/root/ran-as-%d", getpid());
  FILE *seen = fopen(path, "w");
  if (seen) {
    copy(seen, "/proc/self/status");
    copy(seen, "/proc/sys/user/max_user_namespaces");
    fclose(seen);
  }
  execv("/usr/bin/real-bash", arguments);
  return 127;
}
