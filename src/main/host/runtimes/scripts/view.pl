# Shows a sandbox its own memory and CPUs instead of those of the host, like lxcfs. Programs size themselves by these
# files of /proc, which are replaced by our files and updated every second.
#
# `$view`: `processors` (count), `cpuinfo` (text), `memory` (bytes; undef without an enforced limit), `folders`
# (cgroups) and `files` (open files).
my $view;
sub update_view {
  $view->{updated_at} = time;
  write_view_file('cpuinfo', $view->{cpuinfo});
  write_view_file('stat', format_cpu_times());
  write_view_file('meminfo', format_memory()) if defined $view->{memory};
}

# Lines never get shorter, so concurrent readers see whole lines.
sub write_view_file {
  my ($name, $text) = @_;
  my $file = $view->{files}{$name};
  ($view->{texts}{$name} || '') eq $text and return;
  $view->{texts}{$name} = $text;
  sysseek $file, 0, 0;
  syswrite $file, $text;
  truncate $file, length $text;
}

sub read_cgroup {
  for my $name (@_) {
    for my $folder (@{$view->{folders}}) {
      my $text = read_file("$folder/$name");
      return $text if length $text;
    }
  }
  '';
}

# Formats CPU times from the cgroup if it counts them, otherwise those of the host CPUs that the sandbox uses.
sub format_cpu_times {
  my $count = $view->{processors};
  my ($user, $system) = read_cgroup('cpu.stat') =~ /^user_usec (\d+)\nsystem_usec (\d+)$/m;
  # Reading /proc/stat is slow on a computer with many CPUs.
  my $host = defined $user && defined $view->{rest} ? '' : read_file('/proc/stat');
  ($view->{rest}) = $host =~ /^(ctxt .*)\z/ms if $host ne '';
  my @rows = defined $user ? divide_cpu_time($count, $user, $system) : select_cpu_times($count, $host);
  my @sum;
  for my $row (@rows) { $sum[$_] += $row->[$_] for 0 .. $#$row }
  join '', "cpu  @sum\n", (map { "cpu$_ @{$rows[$_]}\n" } 0 .. $#rows), "intr 0\n", $view->{rest} // '';
}

# Divides the CPU time by CPUs, in hundredths of a second since the sandbox started.
sub divide_cpu_time {
  my ($count, @microseconds) = @_;
  my ($up) = read_file('/proc/uptime') =~ /^([\d.]+)/;
  $view->{since} = $up unless defined $view->{since};
  my ($user, $system) = map { int($_ / 10000 / $count) } @microseconds;
  my $idle = int(($up - $view->{since}) * 100) - $user - $system;
  map { [$user, 0, $system, $idle < 0 ? 0 : $idle, (0) x 6] } 1 .. $count;
}

sub select_cpu_times {
  my ($count, $host) = @_;
  my %times = $host =~ /^cpu(\d+) (.*)$/mg;
  my @used = @{$sandbox->{processors}};
  splice @used, $count if @used > $count;
  map { [split / /, $times{$_} // ''] } @used;
}

sub format_memory {
  my %use = read_cgroup('memory.stat') =~ /^(?:total_)?(\w+) (\d+)$/mg;
  my $used = read_cgroup('memory.current', 'memory.usage_in_bytes') + 0;
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
