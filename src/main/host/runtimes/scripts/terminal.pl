# Lets a program open its side of the terminal whose other side this is, and gives that to the sandbox's root. The
# side is found from the other one: whatever stands under its name leads nowhere else.
sub open_terminal_side {
  my ($master, $uid) = @_;
  my $unlocked = pack('i', 0);
  ioctl($master, 0x40045431, $unlocked) or return { failed => "it cannot be unlocked: $!" };
  return { done => \1 } unless defined $uid;
  my $number = ioctl($master, 0x5441, 2 | O_NOCTTY);
  $number && open(my $side, '+<&=', $number) or return { failed => "it has no other side: $!" };
  chown($uid, $uid, $side) or return { failed => "it cannot be given: $!" };
  { done => \1 };
}
