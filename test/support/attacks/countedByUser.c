/*
 * Takes what the kernel counts for all processes of a user: instances of inotify, files on their way in sockets, queued
 * signals, message queues, pages of pipes. With `take` it takes all it can, prints how many of each, and keeps them until there is
 * something to read; with `check` it takes one of each and prints `1`, or the errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES_OF_MESSAGE = 200, PAIRS = 4000 };

static int watches(int most) {
  int made = 0;
  while (made < most && inotify_init() >= 0) made++;
  return made ? made : -errno;
}

static int send_files(int socket, const int *files) {
  char control[CMSG_SPACE(FILES_OF_MESSAGE * sizeof(int))], byte = 0;
  struct iovec content = {&byte, 1};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(FILES_OF_MESSAGE * sizeof(int));
  memcpy(CMSG_DATA(head), files, FILES_OF_MESSAGE * sizeof(int));
  return sendmsg(socket, &message, MSG_DONTWAIT);
}

static int files_on_their_way(int most) {
  int files[FILES_OF_MESSAGE], pair[2], sent = 0;
  for (int index = 0; index < FILES_OF_MESSAGE; index++) files[index] = open("/dev/null", O_RDONLY);
  for (int pairs = 0; pairs < PAIRS && sent < most; pairs++) {
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) break;
    while (sent < most) {
      if (send_files(pair[0], files) >= 0) sent++;
      else if (errno == ETOOMANYREFS) return sent ? sent * FILES_OF_MESSAGE : -errno;
      else break;
    }
  }
  return sent ? sent * FILES_OF_MESSAGE : -errno;
}

static int signals(int most) {
  sigset_t blocked;
  int queued = 0;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &blocked, 0);
  while (queued < most && !sigqueue(getpid(), SIGRTMIN, (union sigval){0})) queued++;
  return queued ? queued : -errno;
}

static int queues(int most) {
  char name[64];
  int made = 0;
  for (; made < most; made++) {
    snprintf(name, sizeof name, "/queue%d.%d", getpid(), made);
    if (mq_open(name, O_CREAT | O_RDWR, 0600, 0) < 0) break;
    if (most == 1) mq_unlink(name);
  }
  return made ? made : -errno;
}

/* As many as have their full size: the kernel makes them small for a user who has many. */
static int pipes(int most) {
  int made = 0, ends[2];
  for (; made < most && !pipe(ends); made++) {
    if (fcntl(ends[0], F_GETPIPE_SZ) < 65536) return made ? made : -EDQUOT;
  }
  return made ? made : -errno;
}

static void report(const char *name, int answer, int is_check) { printf("%s\t%d\n", name, is_check && answer > 0 ? 1 : answer); }

int main(int count, char **arguments) {
  int is_check = count > 1 && !strcmp(arguments[1], "check"), most = is_check ? 1 : 1 << 30;
  struct rlimit files;
  char byte;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  report("watches", watches(most), is_check);
  report("signals", signals(most), is_check);
  report("queues", queues(most), is_check);
  report("pipes", pipes(most), is_check);
  report("files", files_on_their_way(most), is_check);
  fflush(stdout);
  if (!is_check) read(0, &byte, 1);
  return 0;
}
