/**
 * Command prefix that runs another command with a new host session keyring, which holds the key `canary`. x64 only.
 * KEYCTL_JOIN_SESSION_KEYRING is 1 of keyctl (250), add_key is 248, and -3 is the session keyring.
 */
export const withHostKey: readonly string[] = [
  'perl',
  '-e',
  [
    'my ($kind, $name, $text) = ("user", "canary", "secret-of-the-host");',
    'syscall(250, 1, 0) >= 0 or die "no session keyring: $!\\n";',
    'syscall(248, $kind, $name, $text, length $text, -3) >= 0 or die "no key: $!\\n";',
    'exec { $ARGV[0] } @ARGV;',
  ].join(' '),
]
