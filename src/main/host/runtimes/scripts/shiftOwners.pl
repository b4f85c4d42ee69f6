# Gives the files below `folder` to `count` ids, the first of which is `first`: see `shift_owners`.
my $given = given();
shift_owners(@$given{'folder', 'first', 'count'});
