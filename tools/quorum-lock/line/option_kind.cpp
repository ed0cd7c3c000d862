#include "quorum-lock/line/option_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace redlock::cli {
namespace {

/// Options that say what one command does, or that have values which only one command can know.
constexpr std::string_view for_one_command[] = {"config", "token",  "adopt",      "fencing-token",
                                                "yes",    "holder", "after-loss", "observe",
                                                "check",  "keep",   "nagios"};

std::vector<OptionText> with_default(std::span<const OptionText> options) {
  std::vector<OptionText> result;
  std::copy_if(options.begin(), options.end(), std::back_inserter(result), may_have_default);
  return result;
}

}  // namespace

OptionKind kind_of(const OptionText& option) noexcept {
  if (option.name == "nodes") return OptionKind::nodes;
  if (option.value.empty()) return OptionKind::flag;
  if (option.value.starts_with("DURATION")) return OptionKind::duration;
  if (option.value == "LIST") return OptionKind::list;
  // Numbers have short names: N, K; but a token is T.
  if (option.value == "KEYS" || option.value == "[N]" ||
      (option.value.size() == 1 && option.value != "T")) {
    return OptionKind::number;
  }
  return OptionKind::text;
}

std::string_view word_instead(const OptionText& option) noexcept {
  const std::size_t bar = option.value.find('|');
  return bar == std::string_view::npos ? std::string_view() : option.value.substr(bar + 1);
}

std::string allowed_in_file(const OptionText& option) {
  switch (kind_of(option)) {
    case OptionKind::nodes:
      return "a string or an array of strings";
    case OptionKind::flag:
      return "true or false";
    case OptionKind::text:
      return "a string";
    case OptionKind::duration: {
      const std::string_view word = word_instead(option);
      return word.empty() ? R"(a string such as "10s")"
                          : fmt::format(R"(a string such as "10s", or "{}")", word);
    }
    case OptionKind::number:
      return "a whole number";
    case OptionKind::list:
      return "an array, or a string with commas";
  }
  return {};
}

bool may_have_default(const OptionText& option) noexcept {
  return std::find(std::begin(for_one_command), std::end(for_one_command), option.name) ==
         std::end(for_one_command);
}

bool may_have_table(const VerbText& verb) noexcept {
  return verb.name != "help" && verb.name != "config" && verb.name != "completion";
}

std::vector<OptionText> global_defaults() { return with_default(global_options()); }
std::vector<OptionText> own_defaults(const VerbText& verb) { return with_default(verb.options); }

}  // namespace redlock::cli
