#include <array>
#include <vector>

#include "redis/requests/plain_yes.hpp"
#include "redis/requests/row.hpp"
#include "redis/values/classify.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

using Table = std::array<const Row*, core::verbs>;

/// The rows by verb. Each verb has one row.
Table make_table() noexcept {
  Table table{};
  for (const auto& family : {set_rows(), fencing_rows(), take_rows(), extend_rows(), release_rows(),
                             queue_rows(), marker_rows(), reign_rows(), upkeep_rows()}) {
    for (const Row& row : family) {
      const Row*& place = table[static_cast<std::size_t>(row.verb)];
      REDLOCK_ASSERT(place == nullptr && row.encode != nullptr && row.meaning != nullptr);
      place = &row;
    }
  }
  for (const Row* row : table) REDLOCK_ASSERT(row != nullptr);
  return table;
}

const Table table = make_table();

}  // namespace

std::span<const Row* const> rows() noexcept { return table; }

const Row& row_of(core::Verb verb) noexcept { return *table[static_cast<std::size_t>(verb)]; }

std::size_t values_expected(core::Verb verb) noexcept { return row_of(verb).values; }

std::optional<core::Answer> classify(core::Verb verb, Dialect dialect, Values values) noexcept {
  const Row& row = row_of(verb);
  if (values.size() != row.values) return std::nullopt;
  return row.meaning(dialect, values);
}

PlainYesForms plain_yes_forms(Dialect dialect, Protocol protocol) noexcept {
  PlainYesForms forms{};
  for (const Row* row : rows()) {
    if (row->yes == nullptr) continue;
    forms[static_cast<std::size_t>(row->verb)] = {row->yes(dialect, protocol), row->yes_means};
  }
  return forms;
}

}  // namespace redlock::redis
