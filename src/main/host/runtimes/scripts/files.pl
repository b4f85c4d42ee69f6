# File operations in a sandbox. `run_file_operation` reads the name and the fields of an operation. Results go through
# `send_output` and `send_event`, failures through `fail`; `read_field` and `read_chunk` return request fields and
# file content. The including script defines these five.
# A state is `MODE SIZE SECONDS NANOSECONDS INODE`, followed by the mode of a link's target and the target.
# Trees are walked with the working folder, one level at a time. So path lengths do not matter, nor does a link that
# replaces a folder during the walk.
sub call_statx {
  my ($descriptor, $path, $flags) = @_;
  my ($mask, $buffer) = (0x7ff, "\0" x 256);
  call('statx', $descriptor, $path, $flags, $mask, $buffer) == 0 or return;
  my ($mode, $inode, $size) = unpack 'x28 S x2 Q2', $buffer;
  my ($seconds, $nanoseconds) = unpack 'x112 q L', $buffer;
  ($mode, $size, $seconds, $nanoseconds, $inode);
}
sub stat_handle { my ($number, $empty_path) = (fileno $_[0], ''); call_statx($number, $empty_path, 0x1000) }
sub stat_path { call_statx(AT_FDCWD, $_[0], 0x100) }
sub format_state {
  my ($path) = @_;
  my @state = stat_path($path) or return;
  ($state[0] & 0170000) == 0120000 or return "@state 0 \0";
  "@state " . ((stat $path)[2] // 0) . ' ' . (readlink($path) // '') . "\0";
}
sub open_regular_file {
  my ($path, $flags) = @_;
  sysopen(my $file, $path, $flags | O_NONBLOCK | O_NOCTTY, 0644) or fail('open');
  -f $file or fail('kind', 21);
  $file;
}

sub copy_content {
  my ($file, $remaining) = @_;
  while ($remaining > 0) {
    my $bytes = read_chunk();
    send_all($file, $bytes) or fail('write');
    $remaining -= length $bytes;
  }
}

# Reads a file of at most `$max` bytes.
sub read_content {
  my ($path, $max) = (read_field(), read_field());
  my $file = open_regular_file($path, 0);
  (-s $file) <= $max or fail('size', 27);
  my $sum = 0;
  while (1) {
    my $bytes_read = sysread $file, my $bytes, 262144;
    defined $bytes_read or fail('read');
    $bytes_read or last;
    ($sum += $bytes_read) <= $max or fail('size', 27);
    send_output($bytes);
  }
}

# Writes a file of `$length` bytes and creates its parent folders.
sub write_content {
  my ($path, $length) = (read_field(), read_field());
  my @parts = split m{/}, $path;
  for my $last (1 .. $#parts - 1) {
    my $folder = join '/', @parts[0 .. $last];
    $folder eq '' || -d $folder || mkdir($folder, 0755) or fail('folder');
  }
  my $file = open_regular_file($path, O_WRONLY | O_CREAT);
  truncate $file, 0 or fail('write');
  copy_content($file, $length);
  close $file or fail('write');
}

sub list_names { opendir(my $folder, '.') or fail('open'); sort grep { $_ ne '.' && $_ ne '..' } readdir $folder }
sub get_folder_identity { join ' ', (stat '.')[0, 1] }
sub enter_parent_folder {
  my ($parent, $name) = $_[0] =~ m{\A(.*?)/*([^/]+)/*\z}s or fail('open', 16);
  chdir(length $parent ? $parent : '/') or fail('open');
  $name;
}
# Walks a tree from its parent folder. Calls $each for names that are not folders, $down and $up before and after a
# folder.
sub walk_tree {
  my ($top, $each, $down, $up) = @_;
  my @levels;
  my $enter_folder = sub {
    my ($name, $path) = @_;
    my ($parent, $expected) = (get_folder_identity(), join ' ', (lstat $name)[0, 1]);
    chdir $name or $! == 2 ? return : fail('open');
    get_folder_identity() eq $expected or fail('changed', 11);
    push @levels, { name => $name, path => $path, parent => $parent, names => [list_names()] };
  };
  $down->($top, $top);
  $enter_folder->($top, $top);
  while (@levels) {
    my $level = $levels[-1];
    my $name = shift @{$level->{names}};
    if (!defined $name) {
      chdir '..' or fail('open');
      get_folder_identity() eq $level->{parent} or fail('changed', 11);
      $up->($level->{name});
      pop @levels;
    }
    elsif (lstat $name) {
      my $path = "$level->{path}/$name";
      if (-d _) { $down->($name, $path); $enter_folder->($name, $path) }
      else { $each->($name, $path) }
    }
  }
}

my $tar = '';
sub append_tar { $tar .= $_[0]; if (length $tar >= 131072) { send_output($tar); $tar = '' } }
sub pad_tar { append_tar("\0" x (-$_[0] % 512)) }
sub write_tar_header {
  my ($path, $type, $mode, $size, $seconds, $target) = @_;
  my $header = pack 'a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 a32 a32 a8 a8 a155 x12', $path, sprintf('%07o', $mode & 07777),
    '0000000', '0000000', sprintf('%011o', $size), sprintf('%011o', $seconds < 0 ? 0 : $seconds), '', $type, $target,
    'ustar', '00', 'root', 'root', '0000000', '0000000', '';
  substr $header, 148, 8, sprintf("%06o\0 ", unpack '%32C*', $header);
  append_tar($header);
}
sub write_tar_entry {
  my ($path, $type, $mode, $size, $seconds, $target) = @_;
  my $more = '';
  for (['path', $path, 100], ['linkpath', $target, 100], ['size', $size, 11]) {
    my ($word, $value, $max) = @$_;
    next if length($word eq 'size' ? sprintf '%o', $value : $value) <= $max;
    my $record = " $word=$value\n";
    my $length = length $record;
    $length = length($record) + length $length for 1 .. 3;
    $more .= $length . $record;
  }
  if (length $more) {
    write_tar_header('pax', 'x', 0644, length $more, 0, '');
    append_tar($more);
    pad_tar(length $more);
    $size = 0 if length sprintf('%o', $size) > 11;
  }
  write_tar_header(substr($path, 0, 100), $type, $mode, $size, $seconds, substr($target, 0, 100));
}
sub write_tar_file {
  my ($name, $path) = @_;
  my ($mode, $seconds) = (lstat $name)[2, 9] or return;
  return write_tar_entry($path, '2', $mode, 0, $seconds, readlink $name) if -l _;
  return unless -f _ && sysopen my $file, $name, O_NONBLOCK | O_NOCTTY;
  my ($now, $size) = (stat $file)[2, 7];
  return unless -f _;
  write_tar_entry($path, '0', $now, $size, $seconds, '');
  for (my $remaining = $size; $remaining > 0;) {
    my $bytes_read = sysread $file, my $bytes, $remaining < 262144 ? $remaining : 262144;
    defined $bytes_read or fail('read');
    if (!$bytes_read) { $bytes_read = $remaining < 262144 ? $remaining : 262144; $bytes = "\0" x $bytes_read }
    append_tar($bytes);
    $remaining -= $bytes_read;
  }
  pad_tar($size);
}
sub remove_file {
  my ($name) = @_;
  unlink $name or $! == 2 or fail('remove');
}

sub move_path {
  my ($from, $to, $replace, $version, $keep, $modified) = @_;
  lstat $from or fail('open');
  my @existing = stat_path($to);
  if ($version ne '-') {
    (@existing ? join '-', @existing[1 .. 4] : '') eq $version or fail('changed', 11);
  }
  if ($keep && @existing && ($existing[0] & 0170000) == 0100000) {
    my ($user, $group) = (lstat $to)[4, 5];
    chown $user, $group, $from;
    chmod $existing[0] & 07777, $from or fail('write');
  }
  if (length $modified) { utime $modified, $modified, $from }
  return rename($from, $to) || fail('rename') if $replace;
  my $no_replace = 1;
  return if call('renameat2', AT_FDCWD, $from, AT_FDCWD, $to, $no_replace) == 0;
  my $failure = $! + 0;
  if (@existing) { fail('exists', 17) }
  elsif ($failure == 22 && index("$to/", "$from/") != 0) { rename $from, $to or fail('rename') }
  else { fail($failure == 17 ? 'exists' : 'rename', $failure) }
}

sub run_file_operation {
  my ($work, $path) = (read_field(), read_field());
  if ($work eq 'stat') { send_output(format_state($path) // fail('open')) }
  elsif ($work eq 'list') {
    chdir $path or fail('open');
    my $listing = '';
    for my $name (list_names()) {
      my $state = format_state($name) // next;
      $listing .= "$name\0$state";
      next if length $listing < 131072;
      send_output($listing);
      $listing = '';
    }
    send_output($listing) if length $listing;
  }
  elsif ($work eq 'read') {
    my ($offset, $remaining) = (read_field(), read_field());
    my $file = open_regular_file($path, 0);
    my @before = stat_handle($file) or fail('open');
    send_output("@before 0 \0");
    sysseek $file, $offset, 0 or fail('read');
    while ($remaining > 0) {
      my $bytes_read = sysread $file, my $bytes, $remaining < 262144 ? $remaining : 262144;
      defined $bytes_read or fail('read');
      $bytes_read or last;
      send_output($bytes);
      $remaining -= $bytes_read;
    }
    my @after = stat_handle($file);
    "@before" eq "@after" or fail('changed', 11);
  }
  elsif ($work eq 'write') {
    my ($offset, $should_truncate, $remaining) = (read_field(), read_field(), read_field());
    my $file = open_regular_file($path, O_WRONLY | O_CREAT);
    if ($should_truncate) { truncate $file, $offset or fail('write') }
    sysseek $file, $offset, 0 or fail('write');
    copy_content($file, $remaining);
    my @state = stat_handle($file) or fail('open');
    close $file or fail('write');
    send_output("@state 0 \0");
  }
  elsif ($work eq 'folder') {
    my ($created, $prefix) = (0, '');
    my @names = grep { length } split m{/}, $path;
    while (@names) {
      $prefix .= '/' . shift @names;
      $created = mkdir($prefix, 0755) || 0;
      my $errno = $! + 0;
      $created || -d $prefix or fail($errno == 17 && !@names ? 'exists' : 'folder', $errno);
    }
    send_output("$created\0");
  }
  elsif ($work eq 'move') { move_path($path, map { read_field() } 1 .. 5) }
  elsif ($work eq 'remove') {
    my $is_recursive = read_field();
    my $name = enter_parent_folder($path);
    lstat $name or fail('open');
    if (!-d _) { remove_file($name) }
    elsif (!$is_recursive) { rmdir $name or fail('remove') }
    else { walk_tree($name, \&remove_file, sub {}, sub { rmdir $_[0] or $! == 2 or fail('remove') }) }
  }
  elsif ($work eq 'archive') {
    my $name = enter_parent_folder($path);
    lstat $name or fail('open');
    -d _ or fail('open', 20);
    send_event('p', $$);
    walk_tree($name, \&write_tar_file, sub { my ($mode, $seconds) = (lstat $_[0])[2, 9]; write_tar_entry("$_[1]/", '5', $mode, 0, $seconds, '') }, sub {});
    append_tar("\0" x 1024);
    send_output($tar);
  }
}
