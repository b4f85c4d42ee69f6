# What a sandbox sees of the machine: its own memory and processors instead of the host's, as lxcfs has it. Programs
# size themselves by these files of /proc, which are files of ours there, written anew each second.
#
# `$view`: `processors` (how many), `cpuinfo` (its text), `memory` (bytes; undefined where no limit holds), `folders`
# (its cgroups), and `files`, which are open.
my $view;
sub show_machine {
  $view->{shown} = time;
  show_file('cpuinfo', $view->{cpuinfo});
  show_file('stat', processor_times());
  show_file('meminfo', memory_use()) if defined $view->{memory};
}

# Lines only grow, so that who reads meanwhile sees whole ones.
sub show_file {
  my ($name, $text) = @_;
  my $file = $view->{files}{$name};
  ($view->{texts}{$name} || '') eq $text and return;
  $view->{texts}{$name} = $text;
  sysseek $file, 0, 0;
  syswrite $file, $text;
  truncate $file, length $text;
}

sub of_cgroup {
  for my $name (@_) {
    for my $folder (@{$view->{folders}}) {
      my $text = read_whole("$folder/$name");
      return $text if length $text;
    }
  }
  '';
}

# By the cgroup where it counts them, else those of the host's processors that it uses.
sub processor_times {
  my $count = $view->{processors};
  my ($user, $system) = of_cgroup('cpu.stat') =~ /^user_usec (\d+)\nsystem_usec (\d+)$/m;
  # On a computer with many processors the kernel takes long to count them.
  my $host = defined $user && defined $view->{rest} ? '' : read_whole('/proc/stat');
  ($view->{rest}) = $host =~ /^(ctxt .*)\z/ms if $host ne '';
  my @rows = defined $user ? shares_of($count, $user, $system) : used_of($count, $host);
  my @sum;
  for my $row (@rows) { $sum[$_] += $row->[$_] for 0 .. $#$row }
  join '', "cpu  @sum\n", (map { "cpu$_ @{$rows[$_]}\n" } 0 .. $#rows), "intr 0\n", $view->{rest} // '';
}

# In the kernel's unit, hundredths of a second, since the sandbox started.
sub shares_of {
  my ($count, @microseconds) = @_;
  my ($up) = read_whole('/proc/uptime') =~ /^([\d.]+)/;
  $view->{since} = $up unless defined $view->{since};
  my ($user, $system) = map { int($_ / 10000 / $count) } @microseconds;
  my $idle = int(($up - $view->{since}) * 100) - $user - $system;
  map { [$user, 0, $system, $idle < 0 ? 0 : $idle, (0) x 6] } 1 .. $count;
}

sub used_of {
  my ($count, $host) = @_;
  my %times = $host =~ /^cpu(\d+) (.*)$/mg;
  my @used = @{$sandbox->{processors}};
  splice @used, $count if @used > $count;
  map { [split / /, $times{$_} // ''] } @used;
}

sub memory_use {
  my %use = of_cgroup('memory.stat') =~ /^(?:total_)?(\w+) (\d+)$/mg;
  my $used = of_cgroup('memory.current', 'memory.usage_in_bytes') + 0;
  my $cached = $use{file} // $use{cache} // 0;
  my $total = $view->{memory};
  $used = $total if $used > $total;
  my $shared = $use{shmem} // 0;
  my $free = $total - $used;
  my $available = $free + ($use{inactive_file} // 0) + ($use{active_file} // 0) + ($use{slab_reclaimable} // 0);
  my @rows = (
    [MemTotal => $total], [MemFree => $free], [MemAvailable => $available < $total ? $available : $total], [Buffers => 0],
    [Cached => $cached], [SwapCached => 0], [Active => ($use{active_anon} // 0) + ($use{active_file} // 0)],
    [Inactive => ($use{inactive_anon} // 0) + ($use{inactive_file} // 0)], [SwapTotal => 0], [SwapFree => 0],
    [Dirty => $use{file_dirty} // $use{dirty} // 0], [Writeback => $use{file_writeback} // $use{writeback} // 0],
    [AnonPages => $use{anon} // $use{rss} // 0], [Mapped => $use{file_mapped} // $use{mapped_file} // 0], [Shmem => $shared],
    [Slab => $use{slab} // 0], [SReclaimable => $use{slab_reclaimable} // 0], [SUnreclaim => $use{slab_unreclaimable} // 0],
  );
  join '', map { sprintf "%-15s %8d kB\n", "$_->[0]:", $_->[1] / 1024 } @rows;
}
