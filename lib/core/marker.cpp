#include "core/marker.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// The version of the format, and how an empty word is written.
constexpr std::string_view format_name = "redlock2";
constexpr std::string_view nothing = "-";

constexpr std::array<std::string_view, 4> state_names{"blank", "opening", "joining", "active"};

constexpr std::size_t longest_word = 255;

std::string_view word_or_nothing(std::string_view word) { return word.empty() ? nothing : word; }

/// Takes the next word off `text`; empty at its end, and where two spaces meet.
std::string_view take_word(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

std::optional<std::int64_t> parse_number(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = problem == std::errc{} && end == word.data() + word.size();
  if (!whole || number < 0) return std::nullopt;
  return number;
}

std::optional<Marker::State> parse_state(std::string_view word) {
  for (std::size_t i = 0; i < state_names.size(); ++i) {
    if (state_names[i] == word) return static_cast<Marker::State>(i);
  }
  return std::nullopt;
}

/// None: a list that format_marker() does not write.
std::optional<std::vector<std::string>> parse_members(std::string_view word) {
  std::vector<std::string> members;
  if (word == nothing) return members;
  while (!word.empty()) {
    const std::string_view name = take_word(word, ',');
    if (!is_member_name(name) || members.size() == limits::nodes) return std::nullopt;
    members.emplace_back(name);
  }
  return members;
}

bool is_id(std::string_view word) {
  return !word.empty() && word.size() <= longest_word && word != nothing;
}

/// A deployment has members, sorted, each once, and the node is one of them.
bool is_consistent(const Marker& marker) {
  if (marker.state == Marker::State::blank) {
    return marker.deployment.empty() && marker.members.empty();
  }
  const auto& members = marker.members;
  const bool sorted = std::is_sorted(members.begin(), members.end()) &&
                      std::adjacent_find(members.begin(), members.end()) == members.end();
  return !marker.deployment.empty() && sorted &&
         std::binary_search(members.begin(), members.end(), marker.self);
}

}  // namespace

bool is_member_name(std::string_view name) noexcept {
  if (!is_id(name)) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return c > ' ' && c != ',' && c < 127; });
}

std::string format_marker(const Marker& marker) {
  REDLOCK_ASSERT(is_consistent(marker));
  std::string text(format_name);
  const auto append = [&text](std::string_view word) {
    text += ' ';
    text += word_or_nothing(word);
  };
  append(state_names.at(static_cast<std::size_t>(marker.state)));
  append(marker.incarnation);
  append(marker.deployment);
  append(marker.run_id);
  append(marker.replid);
  append(std::to_string(marker.max_ttl.count()));
  append(marker.durable ? "durable" : "volatile");
  append(marker.self);
  std::string members;
  for (const std::string& member : marker.members) {
    if (!members.empty()) members += ',';
    members += member;
  }
  append(members);
  return text;
}

std::optional<Marker> parse_marker(std::string_view text) {
  if (text.size() > marker_bytes) return std::nullopt;
  if (take_word(text, ' ') != format_name) return std::nullopt;
  Marker marker;
  const auto state = parse_state(take_word(text, ' '));
  if (!state) return std::nullopt;
  marker.state = *state;
  for (std::string* id :
       {&marker.incarnation, &marker.deployment, &marker.run_id, &marker.replid}) {
    const std::string_view word = take_word(text, ' ');
    if (id == &marker.deployment && word == nothing) continue;
    if (!is_id(word)) return std::nullopt;
    id->assign(word);
  }
  const auto max_ttl = parse_number(take_word(text, ' '));
  const std::string_view durable = take_word(text, ' ');
  const std::string_view self = take_word(text, ' ');
  auto members = parse_members(take_word(text, ' '));
  const auto written_at = parse_number(take_word(text, ' '));
  if (!max_ttl || !members || !written_at || !text.empty()) return std::nullopt;
  if (*max_ttl > std::chrono::milliseconds(limits::longest_max_ttl).count()) return std::nullopt;
  if (durable != "durable" && durable != "volatile") return std::nullopt;
  if (self != nothing && !is_member_name(self)) return std::nullopt;
  marker.max_ttl = std::chrono::milliseconds(*max_ttl);
  marker.durable = durable == "durable";
  if (self != nothing) marker.self = self;
  marker.members = *std::move(members);
  marker.written_at = std::chrono::microseconds(*written_at);
  if (!is_consistent(marker)) return std::nullopt;
  return marker;
}

}  // namespace redlock::core
