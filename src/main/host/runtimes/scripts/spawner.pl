# Forks in the host's place, which is large: started early, with every script compiled in it. The host connects to its
# socket and sends one line of JSON for each request; whoever serves it has the connection.
#
# `start`: see `ward`. `try`: runs a command in the place of bwrap and tells `status` and what it `said`.
# `terminal`: makes the program's side of a terminal usable: `file` is the descriptor of the other side in the host's own
# process.
# `users` of the first two: a process whose user namespace is joined first; undefined where the sandbox has none of it.
my $settings = given();
%kinds = %{$settings->{kinds}};
$0 = 'steward spawner';
$SIG{PIPE} = sub {};
# Nothing that the host may have left open reaches a sandbox.
call('close_range', 3, 0xffffffff, 0);
chdir $settings->{folder} or die "no folder: $!\n";
umask 0177;
my $requests = listener($settings->{name});
umask 022;
chdir '/';
# What the host itself may read or wait for with keys stays with the host.
call('keyctl', 1, 0);
$SIG{CHLD} = 'IGNORE';
send_all(*STDOUT, "ready\n");
open(STDOUT, '>', '/dev/null');
while (1) {
  my $wanted = '';
  vec($wanted, fileno $_, 1) = 1 for *STDIN, $requests;
  select(my $ready = $wanted, undef, undef, undef) > 0 or next;
  last if vec($ready, fileno STDIN, 1); # the host has ended
  my $caller = admitted($requests, $settings->{owner}) or next;
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
  if ($request->{do} eq 'start') { ward($caller, $request) }
  elsif ($request->{do} eq 'try') { try_command($caller, $request) }
  elsif ($request->{do} eq 'terminal') { send_all($caller, to_json(give_terminal($request)) . "\n") }
  else { die "It cannot $request->{do}.\n" }
}

sub try_command {
  my ($caller, $request) = @_;
  pipe(my $said, my $says) or die "no pipe: $!\n";
  my $child = fork;
  defined $child or die "no process: $!\n";
  if (!$child) {
    close $_ for $caller, $said;
    open(STDOUT, '>&', $says) && open(STDERR, '>&', $says) or exit 1;
    eval { launch($request) };
    print STDERR $@;
    kill 9, $$;
  }
  close $says;
  my $text = '';
  1 while length $text < 4096 && sysread $said, $text, 4096, length $text;
  waitpid $child, 0;
  send_all($caller, to_json({ status => $?, said => $text }) . "\n");
}

sub give_terminal {
  my ($request) = @_;
  my $host = call('pidfd_open', $settings->{owner}, 0);
  my $number = $host < 0 ? -1 : call('pidfd_getfd', $host, $request->{file} + 0, 0);
  $number >= 0 && open(my $master, '+<&=', $number) or return { failed => "it cannot be taken from the host: $!" };
  open_terminal_side($master);
}
