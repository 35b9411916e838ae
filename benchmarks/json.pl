# Prints values out of a JSON file, one per line, "-" for what is not there:
#   perl json.pl FILE PATH...
# A path is keys and indices with dots between; in an array of objects
# key=value picks the first that has it: decisions.reason=sampled.windows
use strict;
use warnings;
use JSON::PP;

my $file = shift;
open my $in, '<', $file or die "$file: $!\n";
local $/;
my $json = decode_json(<$in>);
for my $path (@ARGV) {
    my $at = $json;
    for my $step (split /\./, $path) {
        if (ref $at eq 'HASH') {
            $at = $at->{$step};
        } elsif (ref $at eq 'ARRAY' && $step =~ /^(.*)=(.*)$/) {
            ($at) = grep { $_->{$1} eq $2 } @$at;
        } elsif (ref $at eq 'ARRAY') {
            $at = $at->[$step];
        } else {
            $at = undef;
        }
    }
    print defined $at ? "$at\n" : "-\n";
}
