# Reads the public headers with Doxygen, and makes pages of what it finds.
#
# A comment belongs to the declaration below it, and to those that follow without a blank line. Of
# functions, types and macros each needs one; fields and enumerators may rest on their names, and
# constructors on the comment of their class. Members that every class has (copies, moves,
# comparisons) are only mentioned if they have a comment, and namespaces called detail never.
package Reference;
use strict;
use warnings;
use utf8;
use File::Temp qw(tempdir);
use Declaration qw(text kind_of line_of member_name declaration);

my @unavailable;
push @unavailable, 'doxygen' if system('command -v doxygen >/dev/null 2>&1') != 0;
push @unavailable, "Perl's XML::LibXML" unless eval { require XML::LibXML; 1 };

# What is missing to make it, for people; empty: nothing is.
sub missing { return join ', ', @unavailable }

# For the headers themselves.
my $not_for_users = qr/^REDLOCK_(?:C_)?EXPORT$|^REDLOCK_TEXT|^REDLOCK_ABI_/;
# What each class may have.
my $plain = qr/^(?:operator(?:==|<=>|<<|bool| bool|->|\*)|await_\w+|~\w+)$/;

sub new {
  my ($class, %arguments) = @_;  # root, doxyfile, escape, highlight, blocks
  my $self = bless {%arguments, mistakes => [], items => {}, target => {}}, $class;
  my $folder = tempdir(CLEANUP => 1);
  open my $doxygen, '|-', "cd '$self->{root}' && exec doxygen - >'$folder/log' 2>&1"
    or die "doxygen: $!\n";
  open my $settings, '<', $self->{doxyfile} or die "$self->{doxyfile}: $!\n";
  print {$doxygen} readline($settings), "OUTPUT_DIRECTORY = $folder\n";
  if (!close $doxygen) {
    open my $log, '<', "$folder/log" or die "$folder/log: $!\n";
    push @{$self->{mistakes}}, map { s{^\Q$self->{root}\E/}{}r =~ s/\n//r } <$log>;
    return $self;
  }
  my @files = grep { !m{/(?:index|Doxyfile)\.xml$} } sort glob "$folder/xml/*.xml";
  $self->collect(map { XML::LibXML->load_xml(location => $_)->findnodes('/*/compounddef') } @files);
  return $self;
}

# Where a name is described; undef where it is not.
sub place_of {
  my ($self, $name) = @_;
  return $self->{target}{$name =~ s/^redlock:://r =~ s/\(.*\)$//sr};
}

sub mistakes { my ($self) = @_; return @{$self->{mistakes}} }
sub mistake {
  my ($self, $file, $line, $text) = @_;
  push @{$self->{mistakes}}, "include/$file:$line: $text";
  return '';
}

# --- What there is --------------------------------------------------------------------------------
# As users write it; a namespace named by a macro is an inline one.
sub short {
  my ($name) = @_;
  return $name =~ s/^redlock:://r =~ s/\bREDLOCK_\w+(?:::|$)//gr =~ s/::$//r;
}
sub header_of { my ($node) = @_; return text($node, 'location/@file') }

sub collect {
  my ($self, @compounds) = @_;
  my %once;
  for my $compound (@compounds) {
    my $kind = kind_of($compound);
    my @members = $compound->findnodes(
      'sectiondef[not(starts-with(@kind, "private")) and @kind != "friend"]'
      . '/memberdef[@kind != "friend"] | sectiondef[@kind = "friend"]/memberdef[@kind = "function"]');
    next if text($compound, 'compoundname') =~ /detail\b/;
    if ($kind =~ /^(?:class|struct)$/) {
      next if $compound->getAttribute('prot') ne 'public' || $compound->getAttribute('id') =~ /_3_01/
        && $compound->findvalue('compoundname') !~ /^redlock::/;
      my $name = short(text($compound, 'compoundname')) =~ s/\s*<.*//r;
      push @{$self->{items}{header_of($compound)}}, {type => $compound, name => $name,
        line => line_of($compound), members => [map { {node => $_} } @members]};
    } elsif ($kind =~ /^(?:namespace|file)$/) {
      # What is in a namespace within ours is called so everywhere.
      my $space = $kind eq 'file' ? 'redlock' : short(text($compound, 'compoundname'));
      if ($space ne 'redlock') {
        $_->firstChild->setData("${space}::" . $_->textContent) for map { $_->findnodes('name') } @members;
      }
      push @{$self->{items}{header_of($_)}}, {node => $_, line => line_of($_),
        name => member_name($_)}
        for grep {
          # Members of an inline namespace are those of the one around it, too.
          header_of($_) && member_name($_) !~ $not_for_users && !$once{$_->getAttribute('id')}++
            && !$once{header_of($_) . line_of($_) . member_name($_)}++
        } @members;
    }
  }
  for my $header (sort keys %{$self->{items}}) {
    # A template that is only declared is described where it is specialized, a struct of C by itself.
    my %described = map { $_->{name} => 1 }
      grep { $_->{type} && $_->{type}->findnodes('sectiondef') } @{$self->{items}{$header}};
    my @items = grep {
      $_->{type} ? !$described{$_->{name}} || $_->{type}->findnodes('sectiondef')
        : !(kind_of($_->{node}) eq 'typedef' && $described{$_->{name}})
    } sort { $a->{line} <=> $b->{line} } @{$self->{items}{$header}};
    my $page = page_of($header);
    $self->{items}{$header} = \@items;
    for my $item (@items) {
      $self->{target}{$item->{name}} //= "$page#" . anchor($item->{name}) if $item->{name} =~ /^\w/;
      for (map { member_name($_->{node}) } @{$item->{members} // []}) {
        $self->{target}{"$item->{name}::$_"} //= "$page#" . anchor("$item->{name}::$_") if /\w$/;
      }
      for ($item->{node} ? enumerators($item->{node}) : ()) {
        $self->{target}{"$item->{name}::" . text($_, 'name')} //= "$page#" . anchor($item->{name});
      }
    }
  }
}

# The page of a header; that of the one that includes all is the first.
sub page_of {
  my ($header) = @_;
  return $header =~ /\.h$/ ? 'api-c.html' : $header eq 'redlock/redlock.hpp' ? 'api.html'
    : 'api-' . ($header =~ s{.*/(.*)\.hpp$}{$1}r) . '.html';
}
sub enumerators { my ($node) = @_; return $node->findnodes('enumvalue') }
sub anchor { my ($name) = @_; return $name =~ s/::/./gr =~ s/[^\w.~]+/-/gr }

# --- Comments -------------------------------------------------------------------------------------
sub link_code {  # text of the code, the type around it → HTML
  my ($self, $code, $scope) = @_;
  my $name = $code =~ s/\(.*\)$//sr =~ s/^redlock:://r;
  my $html = $self->{escape}->($code);
  for ($scope ? "${scope}::$name" : (), $name) {
    return "<a href=\"$self->{target}{$_}\"><code>$html</code></a>" if $self->{target}{$_};
  }
  return "<code>$html</code>";
}

sub link_words {  # HTML, pattern of names that cannot be meant otherwise, the type around it → HTML
  my ($self, $html, $names, $scope) = @_;
  return join '', map {
    /^[<&]/ ? $_ : s{(?<![\w:])($names)(?![\w:])}{
      my $target = $self->{target}{($scope // '') . "::$1"} // $self->{target}{$1};
      $target && $1 ne ($scope // '') ? "<a href=\"$target\">$1</a>" : $1}ger
  } split /(<[^>]*>|&\w+;)/, $html;
}

sub link_errors {
  my ($self, $text) = @_;
  return $text =~ s{\b([a-z_]+)\b}{
    my $target = $self->{target}{"Errc::$1"};
    $target ? "<a href=\"$target\">$1</a>" : $1}ger;
}

my %element = (emphasis => 'em', bold => 'strong', itemizedlist => 'ul', orderedlist => 'ol',
               listitem => 'li');
sub comment {  # node, the type around it → HTML
  my ($self, $node, $scope) = @_;
  my $html = '';
  for my $child ($node->childNodes) {
    my $name = $child->nodeName;
    if ($child->nodeType == XML::LibXML::XML_TEXT_NODE()) {
      my $words = $self->{escape}->($child->data);
      $words =~ s/(Errors: )([^.]*)/$1 . $self->link_errors($2)/ge;
      $words = $self->link_words($words,
        qr/\w*[a-z]\w*[A-Z]\w*|(?<=[Ss]ee )[A-Z]\w+|redlock_\w+/);
      $words =~ s{\b(t(?:ools|ests)/[\w/-]+\.\w+)}{'<a href="' . $self->{link}->($1) . "\">$1</a>"}ge;
      $html .= $words;
    } elsif ($name eq 'para') {
      $html .= $child->findnodes('verbatim|itemizedlist|orderedlist') ? $self->comment($child, $scope)
        : '<p>' . $self->comment($child, $scope) =~ s/\s+$//r . "</p>\n";
    } elsif ($name eq 'computeroutput') {
      $html .= $self->link_code($child->textContent, $scope);
    } elsif ($name eq 'verbatim') {
      my $code = $child->textContent =~ s/^\n+//r;
      $html .= '<pre tabindex="0"><code>' . $self->{highlight}->('cpp', $code) . "</code></pre>\n";
    } elsif ($name eq 'ref') {
      $html .= $self->comment($child, $scope);
    } elsif ($name eq 'ulink') {
      $html .= '<a href="' . $self->{escape}->($child->getAttribute('url')) . '">'
        . $self->comment($child, $scope) . '</a>';
    } elsif ($name =~ /^(?:ndash|mdash)$/) {
      $html .= $name eq 'ndash' ? '–' : '—';
    } elsif ($element{$name}) {
      $html .= "<$element{$name}>" . $self->comment($child, $scope) . "</$element{$name}>";
    } else {
      $self->mistake('', 0, "the comment of $scope has <$name>, which has no form on a page");
    }
  }
  return $html;
}

sub described {  # a member, an enumerator or a type → HTML, empty without a comment
  my ($self, $node, $scope) = @_;
  return join '', map { $self->comment($_, $scope) =~ s/^\s+$//r }
    $node->findnodes('briefdescription|detaileddescription');
}

my $known_type = qr/[A-Z]\w*|redlock_\w+/;
sub code {
  my ($self, $code, $within) = @_;
  # A parameter of a template may have the name of a type.
  my $others = join '|', $code =~ /(?:typename|class)(?:\.\.\.)? (\w+)/g;
  my $names = $others eq '' ? $known_type : qr/(?!(?:$others)\b)$known_type/;
  return $self->link_words($self->{highlight}->('cpp', $code), $names, $within);
}

# --- Pages ----------------------------------------------------------------------------------------
sub fields {  # rows of declaration and comment
  my ($self, @rows) = @_;
  return '' unless @rows;
  return "<dl class=\"fields\">\n" . join('', map {
    my ($id, $code, $html) = @$_;
    '<dt' . ($id ? " id=\"$id\"" : '') . "><code>$code</code></dt>\n<dd>$html</dd>\n"
  } @rows) . "</dl>\n";
}

sub enumeration {
  my ($self, $node, $scope) = @_;
  return $self->fields(map {
    my ($name, $value) = (text($_, 'name'), text($_, 'initializer'));
    [undef, $self->{escape}->($value eq '' ? $name : "$name $value"), $self->described($_, $scope)]
  } enumerators($node));
}

# Those that share a comment, one after the other in the header, in one block.
sub grouped {
  my ($self, $header, $scope, @nodes) = @_;
  my @groups;
  for my $node (@nodes) {
    my ($line, $html) = (line_of($node), $self->described($node, $scope));
    my $last = $groups[-1];
    my $follows = $last && !grep { $self->{lines}{$header}[$_ - 1] =~ m{^\s*$} } $last->{line} .. $line;
    if ($html eq '' && $follows && ($last->{html} ne '' || $last->{kept})) {
      push @{$last->{nodes}}, $node;
      $last->{line} = $line;
    } else {
      push @groups, {nodes => [$node], html => $html, line => $line};
    }
  }
  return @groups;
}

sub is_plain {  # of a class: what each class has
  my ($node, $type) = @_;
  return 0 unless defined $type;
  my $last = $type =~ s/.*:://r;
  my ($name, $arguments) = (member_name($node), text($node, 'argsstring'));
  return $name =~ $plain || $name eq 'operator=' || $name eq $last
    && $arguments =~ /^\((?:const )?(?:\Q$last\E ?&{1,2}|std::nullptr_t)?\)/;
}

sub members {
  my ($self, $header, $scope, @nodes) = @_;
  my $html = '';
  @nodes = grep { !is_plain($_, $scope) || $self->described($_, $scope) ne '' } @nodes;
  for my $group ($self->grouped($header, $scope, @nodes)) {
    my ($first) = @{$group->{nodes}};
    my $name = ($scope ? "${scope}::" : '') . member_name($first);
    my $kind = kind_of($first);
    my $constructor = defined $scope && member_name($first) eq $scope =~ s/.*:://r;
    if ($group->{html} eq '' && $kind ne 'enum' && !$constructor) {
      $self->mistake($header, line_of($first), "$name has no comment");
    }
    my $code = join "\n", map {
      my $id = anchor(($scope ? "${scope}::" : '') . member_name($_));
      my $one = $self->code(declaration($_), $scope);
      $self->{ids}{"$header#$id"}++ ? $one : "<span id=\"$id\">$one</span>";
    } @{$group->{nodes}};
    $html .= "<div class=\"member\">\n<pre tabindex=\"0\"><code>$code</code></pre>\n$group->{html}";
    $html .= $self->enumeration($_, $scope) for grep { kind_of($_) eq 'enum' } @{$group->{nodes}};
    $html .= "</div>\n";
  }
  return $html;
}

sub class {
  my ($self, $header, $item) = @_;
  my ($type, $name) = ($item->{type}, $item->{name});
  my $html = $self->described($type, $name);
  $self->mistake($header, $item->{line}, "$name has no comment") if $html eq '';
  my @nodes = sort { line_of($a) <=> line_of($b) } map { $_->{node} } @{$item->{members}};
  my $is_field = qr/^(?:variable|typedef)$/;
  $html .= $self->fields(map {
    [anchor("${name}::" . member_name($_)), $self->code(declaration($_) =~ s/;$//r, $name),
     $self->described($_, $name)]
  } grep { kind_of($_) =~ $is_field } @nodes);
  return $html . $self->members($header, $name, grep { kind_of($_) !~ $is_field } @nodes);
}

# The comment at the top of a header, which belongs to no declaration.
sub introduction {
  my ($self, $header) = @_;
  my @lines = map { s/\n//r } @{$self->{lines}{$header}};
  my $number = 0;
  for (@lines) {
    ++$number;
    next if m{^\s*$|^#(?:pragma|include|ifndef REDLOCK_H|define REDLOCK_H$)};
    last unless m{^///};
    my $end = $number;
    ++$end while ($lines[$end] // '') =~ m{^///};
    my $next = $lines[$end] // '';
    last unless $next eq '' || $next =~ /^(?:namespace|#include)/;
    return $self->{blocks}->(map { [$_, $lines[$_ - 1] =~ s{^/// ?}{}r] } $number .. $end);
  }
  return '';
}

# The one that includes all: what it says, and a list of the others.
sub index_page {
  my ($self, @pages) = @_;
  my $html = "<h1>API reference</h1>\n" . $self->introduction('redlock/redlock.hpp')
    . $self->fields(map {
      my $page = page_of($_->{header});
      my @has = $_->{header} =~ /\.h$/ ? 'the interface for C'
        : map { "<a href=\"$page#$_->[0]\"><code>$_->[1]</code></a>" } @{$_->{has}};
      [undef, "<a href=\"$page\">$_->{header}</a>", join ', ', @has]
    } @pages);
  return {header => 'redlock/redlock.hpp', outline => [], html => $html};
}

sub read_header {
  my ($self, $header) = @_;
  open my $file, '<:encoding(UTF-8)', "$self->{root}/include/$header" or die "include/$header: $!\n";
  $self->{lines}{$header} = [<$file>];
}

# First what a program needs first, last the interface for C, and all others between them by name.
my @first = map { "redlock/$_.hpp" }
  qw(client options target lease result error mutex shared_mutex recursive_mutex election async_client);
my %rank = map { $first[$_] => $_ } 0 .. $#first;
sub rank { my ($header) = @_; return $header =~ /\.h$/ ? 1000 : $rank{$header} // 100 }

# One page a header: {header, html, outline}.
sub pages {
  my ($self) = @_;
  my @pages;
  for my $header (sort { rank($a) <=> rank($b) || $a cmp $b } keys %{$self->{items}}) {
    $self->read_header($header);
    my ($html, @outline, @free) = ('');
    my $introduction = $self->introduction($header);
    my $flush = sub {
      $html .= $self->members($header, undef, @free) if @free;
      @free = ();
    };
    # In a header with sections these are the parts of its page, and otherwise its types are.
    my %sections;
    for (1 .. @{$self->{lines}{$header}}) {
      $sections{$_} = $1 if $self->{lines}{$header}[$_ - 1] =~ m{^// --- (.*?)(?:\.| ---)};
    }
    my @begins = sort { $a <=> $b } keys %sections;
    for my $item (@{$self->{items}{$header}}) {
      while (@begins && $begins[0] < $item->{line}) {
        $flush->();
        my $title = $sections{shift @begins};
        my $id = anchor(lc $title);
        $html .= "<h2 id=\"$id\">" . $self->{escape}->($title) . "</h2>\n";
        push @outline, [$id, $title];
      }
      if (!$item->{type}) {
        push @free, $item->{node};
        next;
      }
      $flush->();
      my ($id, $code) = (anchor($item->{name}), '<code>' . kind_of($item->{type}) . " $item->{name}</code>");
      if (%sections) {
        $html .= "<div class=\"member\" id=\"$id\">\n<pre tabindex=\"0\">$code</pre>\n"
          . $self->class($header, $item) . "</div>\n";
      } else {
        $html .= "<h2 id=\"$id\">$code</h2>\n" . $self->class($header, $item);
        push @outline, [$id, $item->{name}];
      }
    }
    $flush->();
    my %once;
    my @has = map { [anchor($_->{name}), $_->{name} =~ s/@.*//r] }
      grep { $_->{name} !~ /@|^operator|^to_string$/ && !$once{$_->{name}}++ } @{$self->{items}{$header}};
    push @pages, {header => $header, outline => \@outline, has => \@has,
                  html => "<h1><code>$header</code></h1>\n$introduction$html"};
  }
  $self->read_header('redlock/redlock.hpp');
  return $self->index_page(@pages), @pages;
}

1;
