# Lets a program open its side of the terminal whose other side this is. It belongs to the sandbox's root: so its file
# system of terminals is mounted.
sub open_terminal_side {
  my ($master) = @_;
  my $unlocked = pack('i', 0);
  ioctl($master, 0x40045431, $unlocked) or return { failed => "it cannot be unlocked: $!" };
  { done => \1 };
}
