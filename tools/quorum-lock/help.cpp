#include "quorum-lock/help.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>

namespace redlock::cli {
namespace {

constexpr std::size_t line_width = 96;
constexpr std::size_t option_column = 26;

std::string table(std::string_view title, std::span<const OptionText> options) {
  std::string out = fmt::format("\n{}:\n", title);
  for (const OptionText& option : options) {
    std::string left =
        fmt::format("  --{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
    if (left.size() + 2 > option_column) {
      left += '\n' + std::string(option_column, ' ');
    } else {
      left.append(option_column - left.size(), ' ');
    }
    out += left + wrapped(option.help, option_column);
  }
  return out;
}

constexpr OptionText common_options[] = {
    {"help", "", "Show this help (-h)"},
    {"version", "", "Show the version"},
};

std::string first_sentence(std::string_view text) {
  const std::string_view sentence = text.substr(0, text.find(". "));
  return std::string(sentence.substr(0, sentence.find_last_not_of('.') + 1));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t used = column;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (used > column && used + 1 + word.size() > line_width) {
      out += '\n' + std::string(column, ' ');
      used = column;
    }
    if (used > column) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out + '\n';
}

std::string program_help() {
  std::string out =
      "Distributed locks over independent Redis masters.\n\n"
      "Usage: quorum-lock [OPTIONS] VERB ...\n\nVerbs:\n";
  for (const VerbText& verb : verbs()) {
    out += fmt::format("  {:<10}", verb.name) + wrapped(first_sentence(verb.summary), 12);
  }
  return out + table("Options", global_options()) + table("Other", common_options) +
         fmt::format("\n{}\n", program_footer());
}

std::string verb_help(const VerbText& verb) {
  std::string out =
      wrapped(verb.summary, 0) + fmt::format("\nUsage: quorum-lock {} {}\n", verb.name, verb.usage);
  if (!verb.options.empty()) out += table("Options", verb.options);
  return out + table("Global options", global_options()) + table("Other", common_options) +
         fmt::format("\n{}\n", verb.examples);
}

std::string verb_list() {
  std::string list;
  for (const VerbText& verb : verbs()) {
    fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ", verb.name);
  }
  return list;
}

}  // namespace redlock::cli
