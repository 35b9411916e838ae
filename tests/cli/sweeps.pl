#!/usr/bin/perl
# sweeps.pl PROGRAM CASES SEED [run]: random command lines, given to PROGRAM and to
# GNU parallel with --dry-run, or to be run, in order. Prints the number of lines that both have
# printed, or the first command line on which they differ, and fails.
#
# Left out is what the manual lists as different: values with newlines, Perl's
# expressions and regular expressions, commands that begin with @, and a link
# of the first group.
use strict;
use warnings;

my ($program, $cases, $seed, $run) = @ARGV;
srand($seed);
my @quoted = ('a b', "it's", "''", "'", '$HOME', '"x"', 'a;b', '*', '', ' ',
    "tab\there", 'back\\slash', 'a=b', '~', '#', '(1)', '{}', '{1}', '!',
    "\xc3\xa9t\xc3\xa9", '-n', 'x|y', 'a&b', '<>', '`id`', '%');
my @paths = ('a.txt', '/usr/lib/x.tar.gz', 'dir/', '/', '//', './a', 'a/b/c.d',
    '.hidden', 'a.b/c', 'x.', '..', 'a//b.c', 'no', '/a', 'a/./b.', 'b c/d e.f');
my @literals = ('echo', 'x', '-n', '"q"', "'", '$x', 'a=', '{', '}', '{}}',
    '{{}', '{y}', '{a', '{ }', '>', 'out', '', ' ', 'a b', '{-}', '{1', '{+}');
my @suffixes = ('', '.', '/', '//', '/.');

sub pick { return $_[rand @_] }

sub value {
    my $kind = rand;
    return pick(@quoted) if $kind < 0.35;
    return pick(@paths) if $kind < 0.7;
    return pick(@paths) . pick(',', ';', "\t", ' ', ':', 'ab') . pick(@quoted)
        if $kind < 0.9;
    return join '', map { chr(33 + rand 94) =~ tr,@,A,r } 1 .. rand 9;
}

sub replacement {
    my @names = @_;
    my $kind = rand;
    return pick('{#}', '{%}') if $kind < 0.1;
    return '{' . pick(@suffixes) . '}' if $kind < 0.4;
    return '{' . pick(@names) . pick(@suffixes) . '}' if @names && $kind < 0.7;
    return '{' . pick(1 .. 4, -1 .. -7, 0, '01', '-0', '1 ') . pick(@suffixes)
        . '}';
}

sub word {
    my $word = '';
    $word .= rand() < 0.5 ? pick(@literals) : replacement(@_)
        for 0 .. rand 3;
    return $word =~ /\{=|=\}|\{-?\d+\s*[#%]\}/ ? 'w' : $word;
}

# A command line that can be run: options, command and values.
sub harmless {
    my @values = map { value() } 1 .. 1 + rand 7;
    my $kind = rand;
    my @words = map { pick('x', 'a=', '-', '{y}', '') .
            pick('w', '{1}', '{2}', '{-1}', '{3/}', '{#}', '{1//}',
            $kind < 0.4 ? () : ('{}', '{.}')) } 1 .. 1 + rand 3;
    push @words, '{}' if rand() < 0.5;
    my @command = ('printf', '"%s;"', @words, ';',
        rand() < 0.2 ? ('echo', '&&', 'false') : 'echo');
    my @options = $kind < 0.4 ? (pick('-n', '-N'), 1 + int rand 3) :
        $kind < 0.7 ? '--link' : ();
    if (rand() < 0.3) {
        open my $out, '>', 'nul' or die;
        print $out join("\0", @values), rand() < 0.9 ? "\0" : '';
        close $out;
        return (@options, '-0', @command, '::::', 'nul');
    }
    my @more = $kind < 0.4 ? () : map { (':::', map { value() } 1 .. 1 + rand 3)
        } 1 .. rand 3;
    return (@options, @command, ':::', @values, @more);
}

# The standard output of a command, and whether it failed.
sub output {
    open my $pipe, '-|', @_ or die "$_[0]: $!";
    local $/;
    my $text = <$pipe>;
    close $pipe;
    return $text . ($? ? "failed\n" : '');
}

my ($lines, $files) = (0, 0);
$ENV{PARALLEL_HOME} = '.';
$ENV{SHELL} = '/bin/sh';
open STDERR, '>', '/dev/null';
open STDIN, '<', '/dev/null';
for my $case (1 .. $cases) {
    my (@options, @names, @groups);
    my $header = rand() < 0.3;
    push @options, '--header=:' if $header;
    push @options, '--quote' if rand() < 0.2;
    push @options, '--colsep=' . pick(',', ';', '\t', ' ', ':', 'ab', '[,;]+',
        'a|b', '(,)?;', '\.') =~ s/\(,\)\?/,*/r if rand() < 0.4;
    for my $group (1 .. 1 + rand 3) {
        my @values = map { value() } 1 .. 1 + rand 4;
        my $link = $group > 1 && rand() < 0.3 ? '+' : '';
        if ($header) {
            unshift @values, "p$group";
            push @names, $values[0];
        }
        if (rand() < 0.3) {
            my $file = 'values' . $files++ % 10;
            $file .= '.txt' if rand() < 0.5;
            open my $out, '>', $file or die;
            print $out join("\n", @values), rand() < 0.9 ? "\n" : '';
            close $out;
            if ($group == 1 && rand() < 0.3) {
                push @options, '-a', $file;
                next;
            }
            push @groups, "::::$link", $file;
        } else {
            # Perl's option parser is not asked, but bare dashes are
            push @groups, ":::$link", @values;
        }
    }
    # GNU parallel does not count -a when it looks for links.
    @groups = map { $_ eq ':::+' ? ':::' : $_ eq '::::+' ? '::::' : $_ } @groups
        if grep { $_ eq '-a' } @options;
    my @command = map { word(@names) } 1 .. rand 6;
    unshift @command, 'echo' if @command && rand() < 0.7;
    shift @command while @command && $command[0] =~ /^-|^ *$/;
    my @arguments = (@options, '--', @command, @groups);
    @arguments = harmless() if $run;
    my $expected = output('parallel', '--will-cite', '-k',
        $run ? '-j2' : ('--dry-run', '-j1'), @arguments);
    my $got = output($program, 'run',
        $run ? ('-q', '-k', '-j2') : '--dry-run', @arguments);
    if ($got ne $expected) {
        print "case $case differs: ", join(' ', map { "<$_>" } @arguments),
            "\nGNU parallel:\n$expected", "bats-mpi:\n$got";
        exit 1;
    }
    $lines += () = $expected =~ /\n/g;
}
print "$lines\n";
