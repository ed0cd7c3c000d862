#include "core/membership/reign.hpp"

#include <array>
#include <charconv>
#include <system_error>

#include "core/membership/node_memory.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// The version of the format.
constexpr std::string_view format_of_reigns = "reign1";

template <typename Number>
std::optional<Number> number_in(std::string_view word) noexcept {
  Number number{};
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool whole = problem == std::errc{} && end == word.data() + word.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::size_t servers_of(std::string_view member) noexcept {
  constexpr std::string_view name = "servers=";
  const std::size_t query = member.find('?');
  if (query == std::string_view::npos) return 1;
  const std::size_t at = member.find(name, query);
  if (at == std::string_view::npos) return 1;
  const std::string_view rest = member.substr(at + name.size());
  return number_in<std::uint8_t>(rest.substr(0, rest.find('&'))).value_or(1);
}

ReignRecord reign_of(const Marker& marker) {
  return {marker.run_id, std::string(replication_id(marker.replid)), {}, 0};
}

bool is_reign_of(const ReignRecord& record, const Marker& marker) {
  return record.run_id == marker.run_id && record.replid == replication_id(marker.replid);
}

std::string head_of(const ReignRecord& record) {
  REDLOCK_ASSERT(!record.run_id.empty() && !record.replid.empty());
  return std::string(format_of_reigns) + ' ' + record.run_id + ' ' + record.replid;
}

std::string format_reign(const ReignRecord& record) {
  return head_of(record) + ' ' + std::to_string(record.confirmed_at.count()) + ' ' +
         std::to_string(record.attachments);
}

std::optional<ReignRecord> parse_reign(std::string_view text) {
  std::array<std::string_view, 5> words;
  for (std::string_view& word : words) {
    const bool is_last = &word == &words.back();
    const std::size_t end = text.find(' ');
    if (is_last != (end == std::string_view::npos)) return std::nullopt;
    word = text.substr(0, end);
    text.remove_prefix(is_last ? text.size() : end + 1);
    if (word.empty()) return std::nullopt;
  }
  if (words[0] != format_of_reigns) return std::nullopt;
  const auto confirmed_at = number_in<std::int64_t>(words[3]);
  const auto attachments = number_in<std::uint64_t>(words[4]);
  if (!confirmed_at || !attachments) return std::nullopt;
  return ReignRecord{std::string(words[1]), std::string(words[2]),
                     std::chrono::microseconds(*confirmed_at), *attachments};
}

}  // namespace redlock::core
