# Changes the owners of the files below `folder` to `count` ids from `first`; see `shift_owners`.
my $options = read_options();
shift_owners(@$options{'folder', 'first', 'count'});
