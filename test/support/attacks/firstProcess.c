/*
 * A hostile first process: whatever it may still change about itself, it changes, so that the host that looks for the
 * sandbox behind it (its root, its folder, its namespaces, its name) finds something else. /root/jail has the terminals
 * of a sandbox as links to the file that /root/target names. Tells in /root/became what it could do, then sleeps.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *seen;

static void tell(const char *what, int failed) { fprintf(seen, "%s\t%d\n", what, failed ? -errno : 0); }

int main(void) {
  char target[256] = "";
  int file = open("/root/target", O_RDONLY);
  seen = fopen("/root/became", "w");
  read(file, target, sizeof target - 1);
  target[strcspn(target, "\n")] = 0;
  mkdir("/root/jail", 0755);
  mkdir("/root/jail/dev", 0755);
  mkdir("/root/jail/dev/pts", 0755);
  for (int number = 0; number < 64; number++) {
    char name[64];
    sprintf(name, "/root/jail/dev/pts/%d", number);
    symlink(target, name);
  }
  symlink("/dev/pts/ptmx", "/root/jail/dev/pts/ptmx");
  tell("unshare users", unshare(CLONE_NEWUSER));
  tell("unshare mounts", unshare(CLONE_NEWNS));
  tell("unshare network", unshare(CLONE_NEWNET));
  tell("mount", mount("/root/jail", "/mnt", NULL, MS_BIND, NULL));
  tell("chroot", chroot("/root/jail"));
  fclose(seen);
  /* These it may do: they must not matter. */
  chdir("/root/jail");
  prctl(PR_SET_NAME, "systemd");
  prctl(PR_SET_DUMPABLE, 0);
  for (;;) pause();
}
