# Holds a user namespace with a `range` of ids until stdin ends. All sandboxes of an unprivileged host are created in
# it, each with a separate id. Prints `held` when the namespace exists.
#
# The kernel counts inotify, queued signals, message queues and processes also for the user who created the outermost
# namespace, whatever ids it maps: all sandboxes together get half of that user's limits.
my $options = read_options();
$0 = 'steward users';
$SIG{$_} = 'IGNORE' for 'INT', 'TERM', 'HUP', 'PIPE';
enter_range($options->{range}, 0, sub {
  limit_inotify(0.5);
  for my $resource (RLIMIT_NPROC, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE) {
    my $max = (get_resource_limits($resource))[1];
    limit_resource(0, $resource, int $max / 2) if $max < 1 << 62;
  }
});
syswrite STDOUT, "held\n";
1 while sysread STDIN, my $discarded, 64;
