# Makes the files of an image in `folder` from what it reads. It is root of the user namespace of `range` and sees nothing
# but the folder of the image: wherever a link of a hostile archive points to, it stays in there.
#
# stdin: operations, each a length (32 bit, big-endian) and so many bytes of fields that a NUL separates:
# `layer`; `folder PATH MODE UID GID TIME`, `file ... SIZE` with the content after it, `link PATH UID GID TARGET`,
# `same PATH TARGET` (a hard link), `without PATH` and `only PATH`, which take away what earlier layers brought: a file or
# folder, or all that is in a folder; `end`.
# stdout: JSON, how many bytes were written and what bash it has. stderr: `ERRNO PATH` or a sentence.
my $given = given();
my $root = $given->{folder};
enter_range($given->{range}, 0);
chdir $root and chroot '.' and chdir '/' or die "cannot enter the folder of the image: $!\n";
umask 0;
binmode STDIN;
my ($bytes, %own) = 0;
sub failed { print STDERR $! + 0, " $_[0]\n"; exit 1 }
sub take { my $got = read STDIN, my $taken, $_[0]; defined $got && $got == $_[0] or exit 1; $taken }

sub clear {
  my ($path, $earlier) = @_;
  opendir(my $folder, $path) or failed($path);
  for my $name (readdir $folder) {
    next if $name eq '.' || $name eq '..';
    my $inner = "$path/$name";
    my $is_folder = !-l $inner && -d _;
    if ($earlier && $own{$inner}) { clear($inner, 1) if $is_folder; next }
    clear($inner, 0) if $is_folder;
    ($is_folder ? rmdir $inner : unlink $inner) or failed($inner);
  }
}
sub gone {
  my ($path, $earlier) = @_;
  lstat $path or return;
  my $is_folder = !-l _ && -d _;
  if ($earlier && $own{$path}) { clear($path, 1) if $is_folder; return }
  clear($path, 0) if $is_folder;
  ($is_folder ? rmdir $path : unlink $path) or failed($path);
}
sub above {
  my ($path, $depth) = @_;
  $own{$path} = 1;
  my @parts = split m{/}, $path;
  for my $last (1 .. $#parts - 1) {
    my $parent = join '/', @parts[0 .. $last];
    $own{$parent} = 1;
    next if -d $parent || mkdir $parent, 0755;
    # A link whose target comes later.
    my $target = readlink $parent;
    defined $target && $depth < 8 or failed($path);
    $target = join '/', @parts[0 .. $last - 1], $target unless $target =~ m{^/};
    above("$target/.", $depth + 1);
  }
}
sub folder { my ($path) = @_; return if !-l $path && -d _; gone($path, 0); mkdir $path, 0755 or failed($path) }

while (1) {
  my ($kind, $path, @fields) = split /\0/, take(unpack 'N', take(4)), -1;
  if ($kind eq 'layer') { %own = () }
  elsif ($kind eq 'folder') {
    my ($mode, $uid, $gid, $time) = @fields;
    above($path, 0);
    folder($path);
    chown($uid, $gid, $path) && chmod($mode, $path) && utime($time, $time, $path) or failed($path);
  }
  elsif ($kind eq 'file') {
    my ($mode, $uid, $gid, $time, $size) = @fields;
    above($path, 0);
    gone($path, 0);
    sysopen(my $file, $path, 01 | 0100 | 0200, 0600) or failed($path);
    for (my $left = $size; $left > 0;) {
      my $part = take($left < 1048576 ? $left : 1048576);
      for (my $at = 0; $at < length $part;) {
        my $wrote = syswrite $file, $part, length($part) - $at, $at;
        defined $wrote or failed($path);
        $at += $wrote;
      }
      $left -= length $part;
    }
    chown($uid, $gid, $file) && chmod($mode, $file) && utime($time, $time, $file) && close $file or failed($path);
    $bytes += $size;
  }
  elsif ($kind eq 'link') {
    my ($uid, $gid, $target) = @fields;
    above($path, 0);
    gone($path, 0);
    symlink $target, $path or failed($path);
    call('fchownat', AT_FDCWD, $path, $uid + 0, $gid + 0, 0x100) == 0 or failed($path);
  }
  elsif ($kind eq 'same') {
    my ($target) = @fields;
    next if $target eq $path;
    above($path, 0);
    gone($path, 0);
    link $target, $path or failed($path);
  }
  elsif ($kind eq 'without') { gone($path, 1) }
  elsif ($kind eq 'only') { clear($path, 1) if !-l $path && -d _ }
  else { last }
}
for (qw(755/proc 755/sys 755/dev 755/run 755/etc 755/home 755/mnt 755/opt 755/srv 755/usr 755/usr/local 700/root 1777/tmp 755/var 1777/var/tmp)) {
  my ($mode, $path) = m{^(\d+)(.*)};
  next if !-l $path && -d _;
  folder($path);
  chmod oct $mode, $path or failed($path);
}

# What a program is for, by its head: see elf(5). Links are followed within the image. The number of an architecture is
# 0 where it is no program of 64 bits; what loads it is told, and whether that is there.
sub program {
  my ($path) = @_;
  my %none = (architecture => 0);
  open(my $file, '<', $path) or return \%none;
  my $got = sysread $file, my $head, 64;
  defined $got && $got == 64 && substr($head, 0, 6) eq "\x7fELF\x02\x01" or return \%none;
  my ($architecture, $parts, $size, $count) = unpack 'x18 S< x12 Q< x14 S< S<', $head;
  my %program = (architecture => $architecture);
  for my $index (0 .. ($count < 64 ? $count : 64) - 1) {
    sysseek $file, $parts + $index * $size, 0 or last;
    my $found = sysread $file, my $part, 56;
    defined $found && $found == 56 or last;
    my ($type, $at, $length) = unpack 'L< x4 Q< x16 Q<', $part;
    next if $type != 3;
    sysseek($file, $at, 0) && $length <= 4096 && sysread $file, my $loader, $length or return \%none;
    $loader =~ s/\0.*//s;
    $program{loaded} = -f $loader && -x _ ? \1 : \0;
    $program{loader} = substr $loader, 0, 200;
    $program{loader} =~ tr/\x21-\x7e/?/c; # it is told to people
  }
  \%program;
}
my ($shell) = grep { -f $_ && -x _ } '/usr/bin/bash', '/bin/bash';
print to_json({ bytes => $bytes, bash => defined $shell ? program($shell) : undef });
