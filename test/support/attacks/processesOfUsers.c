/*
 * Shows whether the most processes of a sandbox count those of all its users together: becomes several users, each of
 * which forks as often as it can. Prints how many processes there were. Arguments: how many users, how many forks each.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  int users = atoi(arguments[1]), each = atoi(arguments[2]), counts[2], end[2], made = 0, total = 0;
  signal(SIGCHLD, SIG_IGN);
  pipe(counts);
  pipe(end);
  for (int user = 1; user <= users; user++) {
    if (fork()) continue;
    char byte;
    close(end[1]);
    int is_user = !setresgid(user, user, user) && !setresuid(user, user, user);
    for (; is_user && made < each; made++) {
      pid_t child = fork();
      if (child < 0) break;
      if (!child) {
        read(end[0], &byte, 1);
        _exit(0);
      }
    }
    write(counts[1], &made, sizeof made);
    close(counts[1]);
    read(end[0], &byte, 1);
    _exit(0);
  }
  for (int user = 1; user <= users; user++) {
    read(counts[0], &made, sizeof made);
    total += made;
  }
  printf("%d\n", total);
  return 0;
}
