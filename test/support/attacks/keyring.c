/*
 * Shows whether a sandbox shares its session keyring: looks for the key `canary` of the host and the key `mark` of
 * another sandbox, then leaves `mark` with the text of its argument. By itself, and through PID 1.
 * Prints WHO, KEY and what it read, or -errno of the search, with tabs between.
 */
#include "pid1.h"

enum { SESSION = -3, SEARCH = 10, READ = 11, AT_TYPE = 0, AT_NAME = 16, AT_TEXT = 64, AT_FOUND = 1024, FOUND_BYTES = 256 };

static char own_memory[MEMORY_BYTES];

typedef long (*call)(long number, long a, long b, long c, long d, long e, long f);

static long call_here(long number, long a, long b, long c, long d, long e, long f) {
  long answer = syscall(number, a, b, c, d, e, f);
  return answer < 0 ? -errno : answer;
}

static void look_for(const char *who, call make, long memory, const char *name) {
  strcpy(own_memory + AT_NAME, name);
  memset(own_memory + AT_FOUND, 0, FOUND_BYTES);
  write_to_pid1(own_memory);
  long key = make(SYS_keyctl, SEARCH, SESSION, memory + AT_TYPE, memory + AT_NAME, 0, 0);
  if (key < 0) {
    printf("%s\t%s\t%ld\n", who, name, key);
    return;
  }
  make(SYS_keyctl, READ, key, memory + AT_FOUND, FOUND_BYTES - 1, 0, 0);
  if (memory == (long)pid1_memory) read_from_pid1(own_memory);
  printf("%s\t%s\t%s\n", who, name, own_memory + AT_FOUND);
}

static void attack(const char *who, call make, long memory, const char *mark) {
  look_for(who, make, memory, "canary");
  look_for(who, make, memory, "mark");
  strcpy(own_memory + AT_TEXT, mark);
  write_to_pid1(own_memory);
  make(SYS_add_key, memory + AT_TYPE, memory + AT_NAME, memory + AT_TEXT, strlen(mark), SESSION, 0);
}

int main(int count, char **arguments) {
  const char *mark = count > 1 ? arguments[1] : "nobody";
  attach_to_pid1();
  strcpy(own_memory + AT_TYPE, "user");
  attack("command", call_here, (long)own_memory, mark);
  attack("pid1", call_in_pid1, (long)pid1_memory, mark);
  detach_from_pid1();
  return 0;
}
