# Unlocks the program side of a terminal. It belongs to the root of the sandbox, as set by the mount options of its
# devpts.
sub unlock_terminal {
  my ($master) = @_;
  my $unlocked = pack('i', 0);
  ioctl($master, 0x40045431, $unlocked) or return { failed => "cannot unlock the terminal: $!" };
  { done => \1 };
}
