/*
 * As the library of the sandbox's /etc/ld.so.preload: shows whether the sandbox's own code runs inside PID 1, and what
 * PID 1 may do at that moment. Every other program leaves /root/loaded, which shows that the library is loaded at all.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void copy_lines(FILE *to, const char *path, const char *const *wanted) {
  char line[512];
  FILE *from = fopen(path, "r");
  if (!from) return;
  while (fgets(line, sizeof line, from))
    for (const char *const *start = wanted; *start; start++)
      if (!strncmp(line, *start, strlen(*start))) fputs(line, to);
  fclose(from);
}

static void leave(const char *path) {
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

__attribute__((constructor)) static void attack(void) {
  const char *const status[] = {"CapEff:", "NoNewPrivs:", "Seccomp:", NULL};
  const char *const limit[] = {"", NULL};
  if (getpid() != 1) {
    leave("/root/loaded");
    return;
  }
  FILE *seen = fopen("/root/in-pid1", "w");
  if (!seen) return;
  copy_lines(seen, "/proc/self/status", status);
  fputs("max_user_namespaces:\t", seen);
  copy_lines(seen, "/proc/sys/user/max_user_namespaces", limit);
  fflush(seen);
  pid_t child = fork();
  if (!child) {
    int failed = unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET);
    fprintf(seen, "unshare:\t%d\n", failed ? -errno : 0);
    fclose(seen);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  fclose(seen);
}
