# A member, as Doxygen's XML has it, as the C++ that we would write.
package Declaration;
use strict;
use warnings;
use utf8;
use Exporter qw(import);
our @EXPORT_OK = qw(text kind_of line_of member_name declaration);

my $widest = 84;  # columns of a declaration on one line

sub text { my ($node, $path) = @_; return $node->findvalue("normalize-space($path)") }
sub kind_of { my ($node) = @_; return $node->getAttribute('kind') }
sub line_of { my ($node) = @_; return text($node, 'location/@line') }
sub member_name { my ($node) = @_; return text($node, 'name') =~ s/^redlock:://r }
sub says { my ($node, $attribute) = @_; return ($node->getAttribute($attribute) // '') eq 'yes' }

# Doxygen's spacing, as ours.
sub tidy {
  my ($code) = @_;
  $code =~ s/< /</g;
  $code =~ s/(?<=\S) >(?!=)/>/g;
  $code =~ s/ ([*&]+)/$1/g;
  $code =~ s/([*&])(?=\w)/$1 /g;
  $code =~ s/(?<=\w)\((?=\*)/ (/g;
  $code =~ s/\(\* /(*/g;
  $code =~ s/^constexpr static/static constexpr/;
  return $code;
}

sub typed {  # type and name of a parameter
  my ($parameter) = @_;
  my $name = text($parameter, 'declname');
  return tidy(text($parameter, 'type') . ($name eq '' ? '' : " $name")) . text($parameter, 'array');
}

sub macro {
  my ($node) = @_;
  my @parameters = map { text($_, 'defname') } $node->findnodes('param');
  my $value = text($node, 'initializer');
  return '#define ' . member_name($node) . (@parameters ? '(' . join(', ', @parameters) . ')' : '')
    . (length $value < 40 ? " $value" : '');
}

sub alias {
  my ($node) = @_;
  my ($name, $type) = (member_name($node), text($node, 'type'));
  return "struct $name;" if $type =~ /^struct \w+$/;
  return "using $name = " . tidy($type) . ';' if text($node, 'definition') =~ /^using/;
  return 'typedef ' . tidy("$type $name" . text($node, 'argsstring')) . ';';
}

sub enumeration {
  my ($node) = @_;
  my ($name, $type) = (member_name($node), text($node, 'type'));
  return (says($node, 'strong') ? 'enum class' : 'enum') . ($name =~ /^\w/ ? " $name" : '')
    . ($type eq '' ? '' : " : $type") . ' { … };';
}

sub variable {
  my ($node) = @_;
  my $type = text($node, 'type');
  $type = "static $type" if says($node, 'static') && $type !~ /static/;
  my $value = text($node, 'initializer');
  $value = '' if length $value > 60 || $value eq '{}';
  $value = " $value" if $value =~ /^=/;
  return tidy("$type " . member_name($node) . text($node, 'argsstring')) . "$value;";
}

sub function {
  my ($node) = @_;
  my $head = '';
  for ($node->findnodes('templateparamlist')) {
    $head .= 'template <' . join(', ', map { typed($_) } $_->findnodes('param')) . ">\n";
  }
  my $type = text($node, 'type') =~ s/^static inline //r;
  $head .= 'explicit ' if says($node, 'explicit');
  $head .= 'static ' if says($node, 'static') && text($node, 'type') !~ /static/;
  $head .= 'virtual ' if ($node->getAttribute('virt') // '') eq 'virtual' && $type !~ /virtual/;
  # Behind the parameters.
  my $tail = text($node, 'argsstring') =~ s/^.*\)(?=[^()]*$)//sr;
  $tail =~ s/^(?=[&c])/ /;
  $tail =~ s/const &/const&/;
  $tail =~ s/&(?=\w)/& /;
  $tail =~ s/=(?=delete|default|0)/ = /;
  my @parameters = map {
    my $default = text($_, 'defval');
    typed($_) . ($default eq '' ? '' : ' = ' . tidy($default));
  } $node->findnodes('param');
  my $begin = tidy("$type " . member_name($node)) =~ s/^\s+//r . '(';
  my $one_line = $begin . join(', ', @parameters) . ")$tail;";
  return $head . $one_line if length $one_line <= $widest;
  return "$head$begin\n    " . join(",\n    ", @parameters) . ")$tail;";
}

my %form = (define => \&macro, typedef => \&alias, enum => \&enumeration, variable => \&variable,
            function => \&function);
sub declaration {
  my ($node) = @_;
  return ($form{kind_of($node)} // die 'no form for a ' . kind_of($node) . "\n")->($node);
}

1;
