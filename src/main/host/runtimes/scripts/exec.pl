# Runs operations in a sandbox, the same in both runtimes: `enter` and `agent` define `fail` and deliver requests and
# status lines.
#
# A request has a mode and NUL-terminated fields. Status lines are `h` the request is being served, `p PID` a command
# started or a port is connected, `e STAGE ERRNO` a failure, `x STATUS` the exit status as in wait(2). The host parses
# them in `execProtocol.ts`.
#
# Fields of a command: their number, the working folder, the command, and its environment as NAME=VALUE.
sub exec_command {
  my ($folder, $command, @environment) = @_;
  chdir $folder or fail('folder');
  %ENV = map { split /=/, $_, 2 } @environment;
  hand_over_key();
  my $command_file;
  if (length $command > 120000) { # Linux takes at most 128 KB as one argument
    my ($name, $text) = ('command', $command);
    my $file = call('memfd_create', $name, 0);
    open($command_file, '+>&=', $file) or fail('command');
    send_all($command_file, $text) or fail('command');
    sysseek $command_file, 0, 0;
    fcntl($command_file, 2, 0);
    $command = qq{eval "exec $file<&-\n\$(cat <&$file)"};
  }
  my @arguments = ('bash', '-c', '--', $command);
  { exec { '/usr/bin/bash' } @arguments }
  { exec { '/bin/bash' } @arguments }
  fail('command');
}
