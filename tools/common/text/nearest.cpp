#include "common/text/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace redlock::cli {
namespace {

/// No name of ours is longer, and a word of somebody else may be.
constexpr std::size_t longest_name = 40;

/// How many letters to insert, delete, replace or exchange with their neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> cost(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t other = from[i - 1] == to[j - 1] ? 0U : 1U;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[from.size()][to.size()];
}

/// A third of a word may be wrong; of two letters, none is left that says what was meant.
std::size_t most_wrong(std::string_view word) { return word.size() < 3 ? 0 : word.size() / 3; }

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
  if (word.size() > longest_name) return std::nullopt;
  std::optional<std::string> best;
  std::size_t least = most_wrong(word) + 1;
  for (const std::string& name : known) {
    const std::size_t wrong = distance(word, name);
    if (wrong >= least) continue;
    least = wrong;
    best = name;
  }
  if (best || word.size() < 2) return best;
  const auto begins_so = [word](const std::string& name) { return name.starts_with(word); };
  const auto first = std::find_if(known.begin(), known.end(), begins_so);
  if (first == known.end() || std::find_if(first + 1, known.end(), begins_so) != known.end()) {
    return std::nullopt;
  }
  return *first;
}

}  // namespace redlock::cli
