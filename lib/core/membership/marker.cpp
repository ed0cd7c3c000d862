#include "core/membership/marker.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// The version of the format.
constexpr std::string_view format_name = "redlock3";
/// How an empty word is written.
constexpr std::string_view nothing = "-";
/// Written for from_its_writing: the script appends the time of the writing to this word.
constexpr std::string_view since_then = "since";

constexpr std::array<std::string_view, 4> state_names{"blank", "opening", "joining", "active"};

constexpr std::size_t longest_word = 255;
/// How many digits of an incarnation an admission contains: 64 bits.
constexpr std::size_t admission_digits = 16;

std::string_view word_or_nothing(std::string_view word) { return word.empty() ? nothing : word; }

/// Removes and returns the next word of `text`; empty at the end and between two separators.
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

/// None: a list that format_marker() does not write.
std::optional<std::vector<std::string>> parse_admissions(std::string_view word) {
  std::vector<std::string> admissions;
  if (word == nothing) return admissions;
  while (!word.empty()) {
    const std::string_view admission = take_word(word, ',');
    if (admission.empty() || admission.size() > longest_word ||
        admissions.size() == limits::nodes) {
      return std::nullopt;
    }
    admissions.emplace_back(admission);
  }
  return admissions;
}

/// The list as a marker contains it.
std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ',';
    text += word;
  }
  return text;
}

std::optional<std::size_t> index_of(const Marker& marker, std::string_view member) noexcept {
  const auto& members = marker.members;
  const auto found = std::lower_bound(members.begin(), members.end(), member);
  if (found == members.end() || *found != member) return std::nullopt;
  return static_cast<std::size_t>(found - members.begin());
}

bool is_id(std::string_view word) {
  return !word.empty() && word.size() <= longest_word && word != nothing;
}

/// Whether the members are sorted, each once, and the node is one of them; a blank marker has none.
bool is_consistent(const Marker& marker) {
  if (marker.state == Marker::State::blank) {
    return marker.deployment.empty() && marker.members.empty() && marker.admissions.empty();
  }
  const auto& members = marker.members;
  const bool sorted = std::is_sorted(members.begin(), members.end()) &&
                      std::adjacent_find(members.begin(), members.end()) == members.end();
  const bool matched = marker.admissions.empty() || marker.admissions.size() == members.size();
  return !marker.deployment.empty() && sorted && matched &&
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
  append(list_text(marker.members));
  append(list_text(marker.admissions));
  if (marker.remembers_since == Marker::from_its_writing) {
    append(since_then);
  } else if (marker.remembers_since != Marker::always) {
    append(std::to_string(marker.remembers_since.count()));
  }
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
  auto admissions = parse_admissions(take_word(text, ' '));
  const bool says_since = text.find(' ') != std::string_view::npos;
  const std::string_view since = says_since ? take_word(text, ' ') : std::string_view();
  const auto written_at = parse_number(take_word(text, ' '));
  if (!max_ttl || !members || !admissions || !written_at || !text.empty()) return std::nullopt;
  const auto remembers_since = !says_since           ? Marker::always.count()
                               : since == since_then ? written_at
                                                     : parse_number(since);
  if (!remembers_since) return std::nullopt;
  if (*max_ttl > std::chrono::milliseconds(limits::longest_max_ttl).count()) return std::nullopt;
  if (durable != "durable" && durable != "volatile") return std::nullopt;
  if (self != nothing && !is_member_name(self)) return std::nullopt;
  marker.max_ttl = std::chrono::milliseconds(*max_ttl);
  marker.durable = durable == "durable";
  if (self != nothing) marker.self = self;
  marker.members = *std::move(members);
  marker.admissions = *std::move(admissions);
  marker.remembers_since = std::chrono::microseconds(*remembers_since);
  marker.written_at = std::chrono::microseconds(*written_at);
  if (!is_consistent(marker)) return std::nullopt;
  return marker;
}

std::string next_admission(std::string_view before, std::string_view incarnation) {
  return next_id(generation_of(before), incarnation.substr(0, admission_digits));
}

bool is_admission_of(std::string_view admission, std::string_view incarnation) noexcept {
  const std::size_t dot = admission.find('.');
  return dot != std::string_view::npos &&
         admission.substr(dot + 1) == incarnation.substr(0, admission_digits);
}

bool is_later_admission(std::string_view one, std::string_view other) noexcept {
  const std::uint64_t first = generation_of(one);
  const std::uint64_t second = generation_of(other);
  return first != second ? first > second : one > other;
}

std::string_view admission_of(const Marker& marker, std::string_view member) noexcept {
  const auto index = index_of(marker, member);
  return index && !marker.admissions.empty() ? std::string_view(marker.admissions[*index])
                                             : first_admission;
}

std::string_view own_admission(const Marker& marker) noexcept {
  return admission_of(marker, marker.self);
}

void set_admission(Marker& marker, std::string_view member, std::string_view admission) {
  const auto index = index_of(marker, member);
  REDLOCK_ASSERT(index);
  if (admission_of(marker, member) == admission) return;
  if (marker.admissions.empty()) {
    marker.admissions.assign(marker.members.size(), std::string(first_admission));
  }
  marker.admissions[*index].assign(admission);
}

bool raise_admissions(Marker& marker, const Marker& other) {
  bool rose = false;
  for (const std::string& member : marker.members) {
    const std::string_view there = admission_of(other, member);
    if (!is_later_admission(there, admission_of(marker, member))) continue;
    set_admission(marker, member, there);
    rose = true;
  }
  return rose;
}

std::string admission_for(const Marker& marker, const Marker& list, std::string_view member) {
  const std::string_view known = admission_of(list, member);
  const bool opened = marker.state == Marker::State::opening &&
                      marker.deployment == list.deployment && own_admission(marker) == known;
  const bool is_known = opened || is_admission_of(known, marker.incarnation);
  return is_known ? std::string(known) : next_admission(known, marker.incarnation);
}

std::string deployment_text(const Marker& marker) {
  return marker.deployment + ' ' + list_text(marker.members) + ' ' + list_text(marker.admissions);
}

std::uint64_t generation_of(std::string_view id) noexcept {
  std::uint64_t generation = 0;
  const auto [end, problem] = std::from_chars(id.data(), id.data() + id.size(), generation);
  const bool numbered = problem == std::errc{} && end != id.data() + id.size() && *end == '.';
  return numbered ? generation : 0;
}

std::string next_id(std::uint64_t generation, std::string_view random) {
  return std::to_string(generation + 1) + '.' + std::string(random);
}

}  // namespace redlock::core
