#include "common/text/arguments.hpp"

#include <fmt/format.h>

#include <charconv>

#include "common/text/duration.hpp"
#include "common/text/number_ranges.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"

namespace redlock::cli {
namespace {

std::uint64_t parse_number(std::string_view text, const std::string& origin, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || number < least || number > most) {
    throw UsageError(fmt::format("{}: '{}' is not allowed: a whole number from {} to {}", origin,
                                 as_printable(text), least, most));
  }
  return number;
}

}  // namespace

bool Arguments::flag(const std::string& name) const {
  const auto found = flags_.find(name);
  return found != flags_.end() && found->second.text == "true";
}

const Arguments::Value* Arguments::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const Arguments::Value* Arguments::find_any(const std::string& name) const {
  if (name == "nodes") return nodes.empty() ? nullptr : &nodes_origin;
  const auto found = flags_.find(name);
  return found == flags_.end() ? find(name) : &found->second;
}

bool Arguments::asked_for(const std::string& name) const {
  const Value* value = find_any(name);
  return value != nullptr && value->layer == Layer::command_line && value->text != "false";
}

std::optional<std::string> Arguments::text(const std::string& name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->text.empty()) throw UsageError(fmt::format("{}: must not be empty", value->origin));
  return value->text;
}

std::optional<std::chrono::nanoseconds> Arguments::duration(const std::string& name) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  const ParsedDuration parsed = parse_duration(value->text);
  if (!parsed.value) {
    throw UsageError(fmt::format("{}: '{}' {}: allowed is {}", value->origin,
                                 as_printable(value->text), parsed.problem, duration_form));
  }
  return parsed.value;
}

std::optional<std::chrono::nanoseconds> Arguments::positive_duration(
    const std::string& name) const {
  const auto parsed = duration(name);
  if (parsed && *parsed == std::chrono::nanoseconds::zero()) {
    throw UsageError(fmt::format("{}: must be longer than zero", find(name)->origin));
  }
  return parsed;
}

std::optional<std::uint64_t> Arguments::number(const std::string& name) const {
  const NumberRange range = range_of(name);
  return number(name, range.least, range.most);
}

std::optional<std::vector<std::uint64_t>> Arguments::numbers(const std::string& name) const {
  const NumberRange range = range_of(name);
  return numbers(name, range.least, range.most);
}

std::optional<std::uint64_t> Arguments::number(const std::string& name, std::uint64_t least,
                                               std::uint64_t most) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  return parse_number(value->text, value->origin, least, most);
}

std::optional<std::vector<std::uint64_t>> Arguments::numbers(const std::string& name,
                                                             std::uint64_t least,
                                                             std::uint64_t most) const {
  const Value* value = find(name);
  if (value == nullptr) return std::nullopt;
  std::vector<std::uint64_t> result;
  for (const std::string& element : split_list(value->text)) {
    result.push_back(parse_number(element, value->origin, least, most));
  }
  return result;
}

void Arguments::fill_from(const Arguments& other) {
  for (const auto& [name, value] : other.values_) values_.try_emplace(name, value);
  for (const auto& [name, value] : other.flags_) flags_.try_emplace(name, value);
  if (!nodes.empty() || other.nodes.empty()) return;
  nodes = other.nodes;
  nodes_origin = other.nodes_origin;
}

void Arguments::forget(const std::string& name) {
  values_.erase(name);
  flags_.erase(name);
  if (name == "nodes") nodes.clear();
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> elements;
  for (;;) {
    const std::size_t comma = list.find(',');
    elements.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return elements;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace redlock::cli
