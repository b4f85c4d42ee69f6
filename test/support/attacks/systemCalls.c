/*
 * Shows whether PID 1 is as confined as the commands of its sandbox: tries each system call that no sandbox should get
 * by itself and then through PID 1, with arguments that the kernel accepts from whoever may make it.
 * Prints a line for each: its name, what it answered here, what it answered in PID 1 (-errno when it failed).
 */
#include "pid1.h"
#include <linux/perf_event.h>
#include <sys/socket.h>

enum { KEY_SPEC_SESSION_KEYRING = -3, KEYCTL_GET_KEYRING_ID = 0, NEW_USER = CLONE_NEWUSER, X32 = 0x40000000 };
enum { AT_TYPE = 0, AT_NAME = 16, AT_VALUE = 32, AT_PATH = 64, AT_FILE = 128, AT_KIND = 192, AT_STRUCT = 512 };

static char own_memory[MEMORY_BYTES];

/* A child that a clone left in this process must not go on as a second copy of it. */
static long call_here(long number, long a, long b, long c, long d, long e, long f) {
  pid_t before = getpid();
  long answer = syscall(number, a, b, c, d, e, f);
  long failure = answer < 0 ? -errno : answer;
  if ((number == SYS_clone || number == SYS_clone3) && answer == 0 && getpid() != before) _exit(0);
  return failure;
}

static void report(const char *name, long here, long there) { printf("%s\t%ld\t%ld\n", name, here, there); }

/* `memory` is the address of the arguments that pointers lead to: here, or in PID 1. */
#define TRY(name, ...)                                                                                                 \
  do {                                                                                                                 \
    long memory = (long)own_memory;                                                                                    \
    (void)memory; /* not every call takes a pointer */                                                                 \
    long here = call_here(__VA_ARGS__);                                                                                \
    memory = (long)pid1_memory;                                                                                        \
    long there = call_in_pid1(__VA_ARGS__);                                                                            \
    report(name, here, there);                                                                                         \
  } while (0)

static void put(int at, const char *text) { strcpy(own_memory + at, text); }

static void place(const void *bytes, size_t count) {
  memset(own_memory + AT_STRUCT, 0, 256);
  memcpy(own_memory + AT_STRUCT, bytes, count);
  write_to_pid1(own_memory);
}

static void sockets(void) {
  TRY("socket AF_VSOCK", SYS_socket, 40, SOCK_STREAM, 0, 0, 0, 0);
  TRY("socket AF_PACKET", SYS_socket, 17, SOCK_RAW, 0x0300, 0, 0, 0);
  TRY("socket AF_XDP", SYS_socket, 44, SOCK_RAW, 0, 0, 0, 0);
}

static void keys(void) {
  TRY("keyctl", SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1, 0, 0, 0);
  TRY("add_key", SYS_add_key, memory + AT_TYPE, memory + AT_NAME, memory + AT_VALUE, 1, KEY_SPEC_SESSION_KEYRING, 0);
  TRY("request_key", SYS_request_key, memory + AT_TYPE, memory + AT_NAME, 0, KEY_SPEC_SESSION_KEYRING, 0, 0);
  TRY("keyctl of x32", SYS_keyctl | X32, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1, 0, 0, 0);
}

static void kernel_surface(void) {
  place("", 1);
  TRY("io_uring_setup", SYS_io_uring_setup, 4, memory + AT_STRUCT, 0, 0, 0, 0);
  TRY("userfaultfd", SYS_userfaultfd, 0, 0, 0, 0, 0, 0);
  TRY("userfaultfd of user mode", SYS_userfaultfd, 1, 0, 0, 0, 0, 0);
  struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_TASK_CLOCK};
  event.exclude_kernel = 1;
  place(&event, sizeof event);
  TRY("perf_event_open", SYS_perf_event_open, memory + AT_STRUCT, 0, -1, -1, 0, 0);
  /* BPF_MAP_CREATE of an array with one element */
  uint32_t map[16] = {2, 4, 4, 1};
  place(map, sizeof map);
  TRY("bpf", SYS_bpf, 0, memory + AT_STRUCT, sizeof map, 0, 0, 0);
  uint32_t handle[16] = {8, 1};
  place(handle, sizeof handle);
  TRY("open_by_handle_at", SYS_open_by_handle_at, AT_FDCWD, memory + AT_STRUCT, 0, 0, 0, 0);
  TRY("kexec_load", SYS_kexec_load, 0, 0, 0, 0, 0, 0);
}

static void mounts(void) {
  TRY("mount", SYS_mount, memory + AT_KIND, memory + AT_PATH, memory + AT_KIND, 0, 0, 0);
  TRY("umount2", SYS_umount2, memory + AT_PATH, 2, 0, 0, 0, 0);
  TRY("fsopen", SYS_fsopen, memory + AT_KIND, 0, 0, 0, 0, 0);
  TRY("open_tree", SYS_open_tree, AT_FDCWD, memory + AT_PATH, 1, 0, 0, 0);
  TRY("pivot_root", SYS_pivot_root, memory + AT_PATH, memory + AT_PATH, 0, 0, 0, 0);
}

static void namespaces(void) {
  long here = open(own_memory + AT_FILE, O_RDONLY);
  long there = call_in_pid1(SYS_openat, AT_FDCWD, pid1_memory + AT_FILE, O_RDONLY, 0, 0, 0);
  report("setns", call_here(SYS_setns, here, CLONE_NEWNET, 0, 0, 0, 0), call_in_pid1(SYS_setns, there, CLONE_NEWNET, 0, 0, 0, 0));
  if (there >= 0) call_in_pid1(SYS_close, there, 0, 0, 0, 0, 0);
  TRY("unshare of a network", SYS_unshare, CLONE_NEWNET, 0, 0, 0, 0, 0);
  TRY("unshare of mounts", SYS_unshare, CLONE_NEWNS, 0, 0, 0, 0, 0);
  TRY("clone with CLONE_NEWUSER", SYS_clone, NEW_USER | SIGCHLD, 0, 0, 0, 0, 0);
  /* flags, pidfd, child_tid, parent_tid, exit_signal, stack… of struct clone_args */
  uint64_t arguments[11] = {NEW_USER, 0, 0, 0, SIGCHLD};
  place(arguments, sizeof arguments);
  TRY("clone3 with CLONE_NEWUSER", SYS_clone3, memory + AT_STRUCT, sizeof arguments, 0, 0, 0, 0);
  TRY("unshare of users", SYS_unshare, NEW_USER, 0, 0, 0, 0, 0);
}

int main(void) {
  attach_to_pid1();
  put(AT_TYPE, "user");
  put(AT_NAME, "attack");
  put(AT_VALUE, "x");
  put(AT_PATH, "/mnt");
  put(AT_FILE, "/proc/self/ns/net");
  put(AT_KIND, "tmpfs");
  write_to_pid1(own_memory);
  sockets();
  keys();
  kernel_surface();
  mounts();
  namespaces();
  detach_from_pid1();
  return 0;
}
