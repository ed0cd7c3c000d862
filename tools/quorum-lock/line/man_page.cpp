#include "quorum-lock/line/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/text/text.hpp"
#include "quorum-lock/line/help.hpp"
#include "quorum-lock/line/verb_table.hpp"
#include "redlock/version.hpp"

namespace redlock::cli {
namespace {

constexpr std::string_view man_description =
    "quorum-lock takes a lock on a resource, a name that all contenders agree on, by asking\n"
    "several independent Redis masters: the nodes. A client that a majority of them grants the\n"
    "lock holds it, so the failure of a minority does no harm. Locks have a time to live (TTL):\n"
    "the lock of a dead holder expires.\n"
    "\n"
    "The keys and values on the nodes are those of other Redlock clients, so these clients and\n"
    "quorum-lock respect each other's locks.";

/// The pages that say more, and are installed.
constexpr VariableText man_pages_beyond[] = {
    {"CLI.md",
     "how run treats its command and passes signals on, locks by token, the JSON and the log, "
     "bench, chaos and its contract for other Redlock clients"},
    {"OPERATING.md", "what to do when something is wrong, and procedures for servers and members"},
    {"REFERENCE.md", "what doctor finds, alerts, exit codes, permissions, TLS, clocks"},
    {"TEAMS.md", "prefixes, and the permissions of a team"},
    {"METRICS.md", "what --metrics-file and --metrics-listen count"},
};

/// Calls `use` with each line.
template <typename Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    use(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Words that roff fills again.
std::string man_words(std::string_view text) { return in_roff(wrapped(text, 0)); }

std::string man_item(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}", tag, man_words(text));
}

std::string man_options(std::span<const OptionText> options) {
  std::string out;
  for (const OptionText& option : options) {
    std::string tag = fmt::format(R"(\fB\-\-{}\fR)", in_roff(option.name));
    if (!option.value.empty()) tag += fmt::format(" \\fI{}\\fR", in_roff(option.value));
    out += man_item(tag, option.help);
  }
  return out;
}

std::string man_exits(std::span<const ExitText> exits) {
  std::string out;
  for (const ExitText& each : exits) {
    out += man_item(fmt::format("\\fB{}\\fR", in_roff(each.code)), each.meaning);
  }
  return out;
}

/// EXIT STATUS explains it.
bool means_the_same_everywhere(const ExitText& exit) {
  const auto is_same = [&exit](const ExitText& each) {
    return each.code == exit.code && each.meaning == exit.meaning;
  };
  return std::ranges::any_of(common_exits(), is_same) ||
         std::ranges::any_of(program_exits(), is_same);
}

/// The codes of the verb, and the meaning of those that are its own.
std::string man_exits_of(const VerbText& verb) {
  std::vector<ExitText> exits = with_common_exits(verb.exits);
  std::string out = "Exit codes:";
  for (const ExitText& each : exits) {
    out += fmt::format("{} {}", &each == exits.data() ? "" : ",", in_roff(each.code));
  }
  std::erase_if(exits, means_the_same_everywhere);
  return out + '\n' + man_exits(exits);
}

std::string man_variables(std::span<const VariableText> rows) {
  std::string out;
  for (const VariableText& each : rows) {
    out += man_item(fmt::format("\\fB{}\\fR", in_roff(each.names)), each.help);
  }
  return out;
}

/// Paragraphs, and examples, which are the indented lines.
std::string man_text(std::string_view text) {
  std::string out;
  bool example = false;
  for_each_line(reflowed(text), [&](std::string_view line) {
    if (line.starts_with(' ') != example) {
      example = !example;
      out += example ? ".EX\n" : ".EE\n";
    }
    out += line.empty() ? std::string(".PP\n") : fmt::format("{}\n", in_roff(line));
  });
  if (example) out += ".EE\n";
  return out;
}

std::string man_synopsis() {
  std::string out;
  for (const VerbText& verb : verbs()) {
    for_each_line(verb.usage, [&](std::string_view form) {
      out += fmt::format(".SY \"quorum\\-lock {}\"\n{}\n", verb.name, in_roff(form));
    });
  }
  return out + ".YS\n";
}

std::string man_verb(const VerbText& verb) {
  return fmt::format(".SS {}\n{}{}", verb.name, man_words(verb.summary),
                     man_options(verb.options)) +
         ".PP\n" + man_text(verb.examples) + ".PP\n" + man_exits_of(verb);
}

}  // namespace

std::string in_roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_a_line = i == 0 || text[i - 1] == '\n';
    switch (text[i]) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '.':
        out += begins_a_line ? "\\&." : ".";
        break;
      default:
        out += text[i];
    }
  }
  return out;
}

std::string man_page() {
  std::string out = fmt::format(
      ".\\\" Written by quorum-lock __man\n"
      ".TH QUORUM\\-LOCK 1 \"\" \"redlock {}\" \"User Commands\"\n"
      // Names of variables and options stay whole.
      ".nr HY 0\n.nh\n.ad l\n"
      ".SH NAME\nquorum\\-lock \\- {}\n.SH SYNOPSIS\n{}.SH DESCRIPTION\n",
      library_version(), in_roff(program_summary()), man_synopsis());
  out += man_text(man_description) + ".SH VERBS\nEXIT STATUS explains the exit codes.\n";
  for (const VerbText& verb : verbs()) out += man_verb(verb);
  out += ".SH GLOBAL OPTIONS\nEvery verb takes these options, before or after its name.\n";
  out += man_options(global_options()) + man_options(program_options());
  out += ".PP\n" + man_text(rules_of_values());
  out += ".SH ENVIRONMENT\n" + man_words(rules_of_variables()) + man_variables(variables());
  out += ".SH EXIT STATUS\n" + man_exits(with_common_exits(program_exits()));
  out += ".SH EXAMPLES\n" + man_text(program_examples());
  out += ".SH SEE ALSO\n.BR flock (1),\n.BR redis\\-server (1),\n.BR redis\\-cli (1)\n.PP\n" +
         man_words("These pages are in share/doc/quorum-lock, and in tools/docs of the sources:") +
         man_variables(man_pages_beyond);
  return out;
}

}  // namespace redlock::cli
