# Works on the files of a machine for whoever asks: `file_` reads the name of the work and its fields. It answers through
# `put_` and `tell_`, and ends through `fail` when something stands in the way; `field` and `content` give what was asked,
# the latter the next bytes of a file.
# A state is `MODE SIZE SECONDS NANOSECONDS INODE`, with the mode of what a link leads to and what the link says.
# Trees are walked with the working folder, one step at a time, so that neither the length of a path nor a link that takes
# the place of a folder matters.
sub statx_ {
  my ($place, $path, $flags) = @_;
  my ($mask, $buffer) = (0x7ff, "\0" x 256);
  call('statx', $place, $path, $flags, $mask, $buffer) == 0 or return;
  my ($mode, $inode, $size) = unpack 'x28 S x2 Q2', $buffer;
  my ($seconds, $nanoseconds) = unpack 'x112 q L', $buffer;
  ($mode, $size, $seconds, $nanoseconds, $inode);
}
sub open_state { my ($number, $nothing) = (fileno $_[0], ''); statx_($number, $nothing, 0x1000) }
sub path_state { statx_(AT_FDCWD, $_[0], 0x100) }
sub linked_state {
  my ($path) = @_;
  my @state = path_state($path) or return;
  ($state[0] & 0170000) == 0120000 or return "@state 0 \0";
  "@state " . ((stat $path)[2] // 0) . ' ' . (readlink($path) // '') . "\0";
}
sub regular {
  my ($path, $how) = @_;
  sysopen(my $file, $path, $how | O_NONBLOCK | O_NOCTTY, 0644) or fail('open');
  -f $file or fail('kind', 21);
  $file;
}

sub fill {
  my ($file, $left) = @_;
  while ($left > 0) {
    my $bytes = content();
    send_all($file, $bytes) or fail('write');
    $left -= length $bytes;
  }
}

# A file of at most so many bytes.
sub read_content {
  my ($path, $most) = (field(), field());
  my $file = regular($path, 0);
  (-s $file) <= $most or fail('size', 27);
  my $sum = 0;
  while (1) {
    my $got = sysread $file, my $bytes, 262144;
    defined $got or fail('read');
    $got or last;
    ($sum += $got) <= $most or fail('size', 27);
    put_($bytes);
  }
}

# A file of so many bytes, with the folders above it.
sub write_content {
  my ($path, $length) = (field(), field());
  my @parts = split m{/}, $path;
  for my $last (1 .. $#parts - 1) {
    my $folder = join '/', @parts[0 .. $last];
    $folder eq '' || -d $folder || mkdir($folder, 0755) or fail('folder');
  }
  my $file = regular($path, O_WRONLY | O_CREAT);
  truncate $file, 0 or fail('write');
  fill($file, $length);
  close $file or fail('write');
}

sub list_names { opendir(my $folder, '.') or fail('open'); sort grep { $_ ne '.' && $_ ne '..' } readdir $folder }
sub mark_ { join ' ', (stat '.')[0, 1] }
sub parted {
  my ($above, $name) = $_[0] =~ m{\A(.*?)/*([^/]+)/*\z}s or fail('open', 16);
  chdir(length $above ? $above : '/') or fail('open');
  $name;
}
# Works in the folder above what is walked. $each gets names that are no folders; $down and $up those of folders.
sub walk_ {
  my ($top, $each, $down, $up) = @_;
  my @levels;
  my $sink = sub {
    my ($name, $path) = @_;
    my ($above, $seen) = (mark_(), join ' ', (lstat $name)[0, 1]);
    chdir $name or $! == 2 ? return : fail('open');
    mark_() eq $seen or fail('changed', 11);
    push @levels, { name => $name, path => $path, above => $above, names => [list_names()] };
  };
  $down->($top, $top);
  $sink->($top, $top);
  while (@levels) {
    my $level = $levels[-1];
    my $name = shift @{$level->{names}};
    if (!defined $name) {
      chdir '..' or fail('open');
      mark_() eq $level->{above} or fail('changed', 11);
      $up->($level->{name});
      pop @levels;
    }
    elsif (lstat $name) {
      my $path = "$level->{path}/$name";
      if (-d _) { $down->($name, $path); $sink->($name, $path) }
      else { $each->($name, $path) }
    }
  }
}

my $tar = '';
sub tar_ { $tar .= $_[0]; if (length $tar >= 131072) { put_($tar); $tar = '' } }
sub pad_ { tar_("\0" x (-$_[0] % 512)) }
sub tar_header {
  my ($path, $type, $mode, $size, $seconds, $target) = @_;
  my $header = pack 'a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 a32 a32 a8 a8 a155 x12', $path, sprintf('%07o', $mode & 07777),
    '0000000', '0000000', sprintf('%011o', $size), sprintf('%011o', $seconds < 0 ? 0 : $seconds), '', $type, $target,
    'ustar', '00', 'root', 'root', '0000000', '0000000', '';
  substr $header, 148, 8, sprintf("%06o\0 ", unpack '%32C*', $header);
  tar_($header);
}
sub tar_entry {
  my ($path, $type, $mode, $size, $seconds, $target) = @_;
  my $more = '';
  for (['path', $path, 100], ['linkpath', $target, 100], ['size', $size, 11]) {
    my ($word, $value, $most) = @$_;
    next if length($word eq 'size' ? sprintf '%o', $value : $value) <= $most;
    my $record = " $word=$value\n";
    my $length = length $record;
    $length = length($record) + length $length for 1 .. 3;
    $more .= $length . $record;
  }
  if (length $more) {
    tar_header('pax', 'x', 0644, length $more, 0, '');
    tar_($more);
    pad_(length $more);
    $size = 0 if length sprintf('%o', $size) > 11;
  }
  tar_header(substr($path, 0, 100), $type, $mode, $size, $seconds, substr($target, 0, 100));
}
sub tar_file {
  my ($name, $path) = @_;
  my ($mode, $seconds) = (lstat $name)[2, 9] or return;
  return tar_entry($path, '2', $mode, 0, $seconds, readlink $name) if -l _;
  return unless -f _ && sysopen my $file, $name, O_NONBLOCK | O_NOCTTY;
  my ($now, $size) = (stat $file)[2, 7];
  return unless -f _;
  tar_entry($path, '0', $now, $size, $seconds, '');
  for (my $left = $size; $left > 0;) {
    my $got = sysread $file, my $bytes, $left < 262144 ? $left : 262144;
    defined $got or fail('read');
    if (!$got) { $got = $left < 262144 ? $left : 262144; $bytes = "\0" x $got }
    tar_($bytes);
    $left -= $got;
  }
  pad_($size);
}
sub put_away {
  my ($name) = @_;
  unlink $name or $! == 2 or fail('remove');
}

sub move_ {
  my ($from, $to, $replace, $version, $keep, $modified) = @_;
  lstat $from or fail('open');
  my @there = path_state($to);
  if ($version ne '-') {
    (@there ? join '-', @there[1 .. 4] : '') eq $version or fail('changed', 11);
  }
  if ($keep && @there && ($there[0] & 0170000) == 0100000) {
    my ($user, $group) = (lstat $to)[4, 5];
    chown $user, $group, $from;
    chmod $there[0] & 07777, $from or fail('write');
  }
  if (length $modified) { utime $modified, $modified, $from }
  return rename($from, $to) || fail('rename') if $replace;
  my $only_new = 1;
  return if call('renameat2', AT_FDCWD, $from, AT_FDCWD, $to, $only_new) == 0;
  my $failure = $! + 0;
  if (@there) { fail('exists', 17) }
  elsif ($failure == 22 && index("$to/", "$from/") != 0) { rename $from, $to or fail('rename') }
  else { fail($failure == 17 ? 'exists' : 'rename', $failure) }
}

sub file_ {
  my ($work, $path) = (field(), field());
  if ($work eq 'stat') { put_(linked_state($path) // fail('open')) }
  elsif ($work eq 'list') {
    chdir $path or fail('open');
    my $listing = '';
    for my $name (list_names()) {
      my $state = linked_state($name) // next;
      $listing .= "$name\0$state";
      next if length $listing < 131072;
      put_($listing);
      $listing = '';
    }
    put_($listing) if length $listing;
  }
  elsif ($work eq 'read') {
    my ($offset, $left) = (field(), field());
    my $file = regular($path, 0);
    my @before = open_state($file) or fail('open');
    put_("@before 0 \0");
    sysseek $file, $offset, 0 or fail('read');
    while ($left > 0) {
      my $got = sysread $file, my $bytes, $left < 262144 ? $left : 262144;
      defined $got or fail('read');
      $got or last;
      put_($bytes);
      $left -= $got;
    }
    my @after = open_state($file);
    "@before" eq "@after" or fail('changed', 11);
  }
  elsif ($work eq 'write') {
    my ($offset, $cut, $left) = (field(), field(), field());
    my $file = regular($path, O_WRONLY | O_CREAT);
    if ($cut) { truncate $file, $offset or fail('write') }
    sysseek $file, $offset, 0 or fail('write');
    fill($file, $left);
    my @state = open_state($file) or fail('open');
    close $file or fail('write');
    put_("@state 0 \0");
  }
  elsif ($work eq 'folder') {
    my ($made, $so_far) = (0, '');
    my @names = grep { length } split m{/}, $path;
    while (@names) {
      $so_far .= '/' . shift @names;
      $made = mkdir($so_far, 0755) || 0;
      my $why = $! + 0;
      $made || -d $so_far or fail($why == 17 && !@names ? 'exists' : 'folder', $why);
    }
    put_("$made\0");
  }
  elsif ($work eq 'move') { move_($path, map { field() } 1 .. 5) }
  elsif ($work eq 'remove') {
    my $deep = field();
    my $name = parted($path);
    lstat $name or fail('open');
    if (!-d _) { put_away($name) }
    elsif (!$deep) { rmdir $name or fail('remove') }
    else { walk_($name, \&put_away, sub {}, sub { rmdir $_[0] or $! == 2 or fail('remove') }) }
  }
  elsif ($work eq 'archive') {
    my $name = parted($path);
    lstat $name or fail('open');
    -d _ or fail('open', 20);
    tell_('p', $$);
    walk_($name, \&tar_file, sub { my ($mode, $seconds) = (lstat $_[0])[2, 9]; tar_entry("$_[1]/", '5', $mode, 0, $seconds, '') }, sub {});
    tar_("\0" x 1024);
    put_($tar);
  }
}
