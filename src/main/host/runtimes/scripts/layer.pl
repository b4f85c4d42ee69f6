# Writes the files of an image into `folder`. Runs as root of the user namespace of `range`, with the image folder as
# its root: links of a hostile archive cannot point outside.
#
# stdin: operations, each a length (32 bit, big-endian) and that many bytes of NUL-separated fields: `layer`;
# `folder PATH MODE UID GID TIME`; `file ... SIZE`, followed by the content; `link PATH UID GID TARGET`;
# `same PATH TARGET` (a hard link); `without PATH` and `only PATH`, which remove content of earlier layers: a file or
# folder, or everything in a folder; `end`.
# stdout: JSON with the number of written bytes and the properties of bash. stderr: `ERRNO PATH` or a sentence.
my $options = read_options();
my $root = $options->{folder};
enter_range($options->{range}, 0);
chdir $root and chroot '.' and chdir '/' or die "cannot enter the folder of the image: $!\n";
umask 0;
binmode STDIN;
my ($bytes, %layer_entries) = 0;
sub fail { print STDERR $! + 0, " $_[0]\n"; exit 1 }
sub read_exactly { my $bytes_read = read STDIN, my $bytes, $_[0]; defined $bytes_read && $bytes_read == $_[0] or exit 1; $bytes }

sub clear {
  my ($path, $earlier) = @_;
  opendir(my $folder, $path) or fail($path);
  for my $name (readdir $folder) {
    next if $name eq '.' || $name eq '..';
    my $inner = "$path/$name";
    my $is_folder = !-l $inner && -d _;
    if ($earlier && $layer_entries{$inner}) { clear($inner, 1) if $is_folder; next }
    clear($inner, 0) if $is_folder;
    ($is_folder ? rmdir $inner : unlink $inner) or fail($inner);
  }
}
sub remove_path {
  my ($path, $earlier) = @_;
  lstat $path or return;
  my $is_folder = !-l _ && -d _;
  if ($earlier && $layer_entries{$path}) { clear($path, 1) if $is_folder; return }
  clear($path, 0) if $is_folder;
  ($is_folder ? rmdir $path : unlink $path) or fail($path);
}
sub create_parents {
  my ($path, $depth) = @_;
  $layer_entries{$path} = 1;
  my @parts = split m{/}, $path;
  for my $last (1 .. $#parts - 1) {
    my $parent = join '/', @parts[0 .. $last];
    $layer_entries{$parent} = 1;
    next if -d $parent || mkdir $parent, 0755;
    # A link whose target is not written yet.
    my $target = readlink $parent;
    defined $target && $depth < 8 or fail($path);
    $target = join '/', @parts[0 .. $last - 1], $target unless $target =~ m{^/};
    create_parents("$target/.", $depth + 1);
  }
}
sub create_folder { my ($path) = @_; return if !-l $path && -d _; remove_path($path, 0); mkdir $path, 0755 or fail($path) }

while (1) {
  my ($kind, $path, @fields) = split /\0/, read_exactly(unpack 'N', read_exactly(4)), -1;
  if ($kind eq 'layer') { %layer_entries = () }
  elsif ($kind eq 'folder') {
    my ($mode, $uid, $gid, $time) = @fields;
    create_parents($path, 0);
    create_folder($path);
    chown($uid, $gid, $path) && chmod($mode, $path) && utime($time, $time, $path) or fail($path);
  }
  elsif ($kind eq 'file') {
    my ($mode, $uid, $gid, $time, $size) = @fields;
    create_parents($path, 0);
    remove_path($path, 0);
    sysopen(my $file, $path, 01 | 0100 | 0200, 0600) or fail($path);
    for (my $remaining = $size; $remaining > 0;) {
      my $part = read_exactly($remaining < 1048576 ? $remaining : 1048576);
      for (my $offset = 0; $offset < length $part;) {
        my $bytes_written = syswrite $file, $part, length($part) - $offset, $offset;
        defined $bytes_written or fail($path);
        $offset += $bytes_written;
      }
      $remaining -= length $part;
    }
    chown($uid, $gid, $file) && chmod($mode, $file) && utime($time, $time, $file) && close $file or fail($path);
    $bytes += $size;
  }
  elsif ($kind eq 'link') {
    my ($uid, $gid, $target) = @fields;
    create_parents($path, 0);
    remove_path($path, 0);
    symlink $target, $path or fail($path);
    call('fchownat', AT_FDCWD, $path, $uid + 0, $gid + 0, 0x100) == 0 or fail($path);
  }
  elsif ($kind eq 'same') {
    my ($target) = @fields;
    next if $target eq $path;
    create_parents($path, 0);
    remove_path($path, 0);
    link $target, $path or fail($path);
  }
  elsif ($kind eq 'without') { remove_path($path, 1) }
  elsif ($kind eq 'only') { clear($path, 1) if !-l $path && -d _ }
  else { last }
}
for (qw(755/proc 755/sys 755/dev 755/run 755/etc 755/home 755/mnt 755/opt 755/srv 755/usr 755/usr/local 700/root 1777/tmp 755/var 1777/var/tmp)) {
  my ($mode, $path) = m{^(\d+)(.*)};
  next if !-l $path && -d _;
  create_folder($path);
  chmod oct $mode, $path or fail($path);
}

# Reads the ELF header of a program, see elf(5). Follows links within the image. Returns its architecture, or 0 if it
# is not a 64-bit program, and its loader, with whether the loader exists.
sub inspect_program {
  my ($path) = @_;
  my %none = (architecture => 0);
  open(my $file, '<', $path) or return \%none;
  my $bytes_read = sysread $file, my $head, 64;
  defined $bytes_read && $bytes_read == 64 && substr($head, 0, 6) eq "\x7fELF\x02\x01" or return \%none;
  my ($architecture, $parts, $size, $count) = unpack 'x18 S< x12 Q< x14 S< S<', $head;
  my %program = (architecture => $architecture);
  for my $index (0 .. ($count < 64 ? $count : 64) - 1) {
    sysseek $file, $parts + $index * $size, 0 or last;
    my $bytes_read = sysread $file, my $part, 56;
    defined $bytes_read && $bytes_read == 56 or last;
    my ($type, $offset, $length) = unpack 'L< x4 Q< x16 Q<', $part;
    next if $type != 3;
    sysseek($file, $offset, 0) && $length <= 4096 && sysread $file, my $loader, $length or return \%none;
    $loader =~ s/\0.*//s;
    $program{loaded} = -f $loader && -x _ ? \1 : \0;
    $program{loader} = substr $loader, 0, 200;
    $program{loader} =~ tr/\x21-\x7e/?/c; # shown to users
  }
  \%program;
}
my ($shell) = grep { -f $_ && -x _ } '/usr/bin/bash', '/bin/bash';
print to_json({ bytes => $bytes, bash => defined $shell ? inspect_program($shell) : undef });
