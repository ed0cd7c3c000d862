#include "quorum-lock/line/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <vector>

#include "common/text/nearest.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

constexpr std::size_t option_column = 26;

/// A row of a table: two columns, the right one wrapped.
std::string row(std::string left, std::string_view right) {
  if (left.size() + 2 > option_column) {
    left += '\n' + std::string(option_column, ' ');
  } else {
    left.append(option_column - left.size(), ' ');
  }
  return left + wrapped(right, option_column);
}

std::string table(std::string_view title, std::span<const OptionText> options) {
  std::string out = fmt::format("\n{}:\n", title);
  for (const OptionText& option : options) {
    out +=
        row(fmt::format("  --{}{}{}", option.name, option.value.empty() ? "" : " ", option.value),
            option.help);
  }
  return out;
}

std::string variable_table() {
  std::string out = "\nEnvironment:\n";
  for (const VariableText& variable : variables()) {
    out += row(fmt::format("  {}", variable.names), variable.help);
  }
  return out;
}

std::string exit_table(std::span<const ExitText> own) {
  std::string out = "\nExit codes:\n";
  for (const ExitText& each : with_common_exits(own)) {
    out += fmt::format("  {:<10}", each.code) + wrapped(each.meaning, 12);
  }
  return out;
}

/// A line for each form.
std::string usage_lines(const VerbText& verb) {
  std::string out;
  for (std::string_view rest = verb.usage;;) {
    const std::size_t end = rest.find('\n');
    out += fmt::format("{:<6} quorum-lock {} {}\n", out.empty() ? "Usage:" : "", verb.name,
                       rest.substr(0, end));
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<ExitText> with_common_exits(std::span<const ExitText> own) {
  std::vector<ExitText> exits(own.begin(), own.end());
  for (const ExitText& common : common_exits()) {
    const bool replaced = std::any_of(exits.begin(), exits.end(), [&common](const ExitText& each) {
      return each.code == common.code;
    });
    if (!replaced) exits.push_back(common);
  }
  const auto number = [](const ExitText& each) {
    int value = 0;
    for (const char digit : each.code) {
      if (digit < '0' || digit > '9') break;
      value = value * 10 + (digit - '0');
    }
    return value;
  };
  std::stable_sort(exits.begin(), exits.end(), [&number](const ExitText& a, const ExitText& b) {
    return number(a) < number(b);
  });
  return exits;
}

std::string reflowed(std::string_view text) {
  std::string out;
  std::string paragraph;
  const auto end_paragraph = [&out, &paragraph] {
    if (!paragraph.empty()) out += wrapped(paragraph, 0);
    paragraph.clear();
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with(' ')) {
      end_paragraph();
      out += fmt::format("{}\n", line);
    } else {
      if (!paragraph.empty()) paragraph += ' ';
      paragraph += line;
    }
  }
  end_paragraph();
  return out;
}

std::string program_help() {
  std::string out = fmt::format("{}.\n\nUsage: quorum-lock VERB [OPTIONS] ...\n\nExamples:\n{}\n\n",
                                program_summary(), program_examples());
  for (const VerbGroup& group : verb_groups()) {
    out += fmt::format("{}:\n", group.task);
    for (const VerbLine& line : group.lines) {
      out += fmt::format("  {:<27} {}\n", line.verbs, line.what);
    }
  }
  return out +
         "\nquorum-lock help VERB says more; quorum-lock help options has what all verbs take.\n";
}

std::string verb_help(const VerbText& verb) {
  std::string out = usage_lines(verb) + "\n" + wrapped(verb.summary, 0);
  if (!verb.options.empty()) out += table("Options", verb.options);
  return out + "\n" + reflowed(verb.examples) + exit_table(verb.exits) +
         "\nThe options that every verb takes (--nodes, --json, ...): quorum-lock help options\n";
}

std::string options_help() {
  return "Options that every verb takes, before or after the verb.\n" +
         table("Options", global_options()) + table("Other", program_options()) + "\n" +
         reflowed(rules_of_values()) + "\n" + reflowed(rules_of_sources()) + "\n" +
         reflowed(rules_of_variables()) + variable_table() + exit_table(program_exits());
}

std::string help_about(const std::vector<std::string>& topics) {
  if (topics.empty()) return program_help();
  if (topics.size() > 1) {
    throw UsageError(fmt::format("help: '{}' is one too many: one verb, or options, is allowed",
                                 as_printable(topics[1])));
  }
  const std::string& topic = topics.front();
  if (topic == "options") return options_help();
  if (const VerbText* verb = find_verb_text(topic)) return verb_help(*verb);
  std::vector<std::string> known = verb_names();
  known.emplace_back("options");
  const auto meant = nearest(topic, known);
  throw UsageError(fmt::format("help: '{}' is not known: {}", as_printable(topic),
                               meant ? fmt::format("did you mean {}?", *meant)
                                     : fmt::format("allowed are options, {}", verb_list())));
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const VerbText& verb : verbs()) names.emplace_back(verb.name);
  return names;
}

std::string verb_list() {
  std::string list;
  for (const VerbText& verb : verbs()) {
    fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ", verb.name);
  }
  return list;
}

}  // namespace redlock::cli
