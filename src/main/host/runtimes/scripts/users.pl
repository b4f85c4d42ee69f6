# Holds a user namespace with a `range` of ids until its stdin ends. All sandboxes of a host of an ordinary user are made in
# it, each by an id of its own. It prints `held` when it is there.
#
# The kernel counts inotify, queued signals, message queues and processes also for the user who made the outermost
# namespace, whatever ids it maps: all sandboxes together get half of what that user has.
my $given = given();
$0 = 'steward users';
$SIG{$_} = 'IGNORE' for 'INT', 'TERM', 'HUP', 'PIPE';
enter_range($given->{range}, 0, sub {
  limit_inotify(0.5);
  for my $resource (RLIMIT_NPROC, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE) {
    my $most = (resource_limits($resource))[1];
    limit_resource(0, $resource, int $most / 2) if $most < 1 << 62;
  }
});
syswrite STDOUT, "held\n";
1 while sysread STDIN, my $nothing, 64;
