# Forks on behalf of the host, whose process is large: started early, with every script compiled. The host connects to
# its socket and sends one line of JSON per request; the process that serves the request keeps the connection.
#
# `start`: see `supervise`. `try`: runs a test command instead of bwrap and returns its `status` and output (`said`).
# `terminal`: makes the program side of a terminal usable; `file` is the descriptor of the other side in the host
# process.
# `users` of the first two: a process whose user namespace is joined first; undef if the sandbox does not use it.
my $settings = read_options();
%kinds = %{$settings->{kinds}};
$0 = 'steward spawner';
$SIG{PIPE} = sub {};
# Files that the host left open must not reach a sandbox.
call('close_range', 3, 0xffffffff, 0);
chdir $settings->{folder} or die "no folder: $!\n";
umask 0177;
my $requests = open_listener($settings->{name});
umask 022;
chdir '/';
# The keyring of the host must not be shared.
call('keyctl', 1, 0);
$SIG{CHLD} = 'IGNORE';
send_all(*STDOUT, "ready\n");
open(STDOUT, '>', '/dev/null');
while (1) {
  my $watched = '';
  vec($watched, fileno $_, 1) = 1 for *STDIN, $requests;
  select(my $ready = $watched, undef, undef, undef) > 0 or next;
  last if vec($ready, fileno STDIN, 1); # the host has ended
  my $caller = accept_owner($requests, $settings->{owner}) or next;
  my $child = fork;
  if (defined $child && !$child) {
    close $requests;
    open(STDIN, '<', '/dev/null');
    $SIG{CHLD} = 'DEFAULT';
    eval { serve_host($caller); 1 } or send_all($caller, to_json({ failed => $@ }) . "\n");
    exit;
  }
  send_all($caller, to_json({ failed => "no process: $!" }) . "\n") unless defined $child;
  close $caller;
}

sub serve_host {
  my ($caller) = @_;
  my $line = '';
  until ($line =~ /\n\z/) { sysread $caller, $line, 1 << 20, length $line or return }
  my $request = from_json($line);
  $request->{owner} = $settings->{owner};
  join_users($request->{users}) if defined $request->{users};
  if ($request->{do} eq 'start') { supervise($caller, $request) }
  elsif ($request->{do} eq 'try') { try_command($caller, $request) }
  elsif ($request->{do} eq 'terminal') { send_all($caller, to_json(grant_terminal($request)) . "\n") }
  else { die "Unknown request $request->{do}.\n" }
}

sub try_command {
  my ($caller, $request) = @_;
  pipe(my $reader, my $writer) or die "no pipe: $!\n";
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    close $_ for $caller, $reader;
    open(STDOUT, '>&', $writer) && open(STDERR, '>&', $writer) or exit 1;
    eval { launch($request) };
    print STDERR $@;
    kill 9, $$;
  }
  close $writer;
  my $text = '';
  1 while length $text < 4096 && sysread $reader, $text, 4096, length $text;
  waitpid $child, 0;
  send_all($caller, to_json({ status => $?, said => $text }) . "\n");
}

sub grant_terminal {
  my ($request) = @_;
  my $host = call('pidfd_open', $settings->{owner}, 0);
  my $number = $host < 0 ? -1 : call('pidfd_getfd', $host, $request->{file} + 0, 0);
  $number >= 0 && open(my $master, '+<&=', $number) or return { failed => "cannot duplicate the terminal of the host: $!" };
  unlock_terminal($master);
}
