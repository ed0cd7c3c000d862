#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/page/bench_report.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

/// The terms on which a lock is acquired.
enum class FamilyTerms {
  plain,    ///< without guards
  guarded,  ///< with the guards that the settings want
  fenced,   ///< with those guards and a fencing token
};

/// All repetitions of one kind on the same terms.
struct FamilyRow {
  std::size_t in_flight = 0;
  std::string_view lock{};
  FamilyTerms terms = FamilyTerms::plain;
  std::vector<Figures> figures{};
  std::vector<Figures> reference{};  ///< exclusive and plain, in step; empty: this row is it
  std::string first_failure{};
};

struct FamilyReport {
  std::size_t nodes = 0;
  bool local = false;  ///< the nodes are our own, so that their CPU time is known
  std::vector<FamilyRow> rows{};
};

/// "interval, fenced".
[[nodiscard]] std::string name_of(const FamilyRow& row);

[[nodiscard]] std::string family_json(const FamilyReport& report);
[[nodiscard]] std::string family_text(const Style& style, const FamilyReport& report);

}  // namespace redlock::cli
