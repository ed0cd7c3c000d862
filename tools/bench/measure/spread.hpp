#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace redlock::cli {

/// The repetitions of one figure.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

[[nodiscard]] inline Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

}  // namespace redlock::cli
