#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

/// The given options, by name without dashes, each with its origin. The command line and the
/// configuration file both end up here; reading a value checks it, and a UsageError names the
/// origin.
class Arguments {
 public:
  struct Value {
    std::string text;
    std::string origin;  ///< "--ttl", or "ttl in FILE"
  };

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  void raise(const std::string& flag) { flags_.insert(flag); }

  [[nodiscard]] bool flag(const std::string& name) const { return flags_.contains(name); }
  [[nodiscard]] const Value* find(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> duration(const std::string& name) const;
  /// As `duration`; zero is refused.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> positive_duration(
      const std::string& name) const;
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least,
                                                    std::uint64_t most) const;
  /// A comma list of numbers, at least one.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> numbers(const std::string& name,
                                                                  std::uint64_t least,
                                                                  std::uint64_t most) const;

  /// Takes over what is not set here.
  void fill_from(const Arguments& other);

  std::vector<std::string> nodes{};    ///< every --nodes, not yet split at commas
  std::vector<std::string> words{};    ///< what is no option: the resource
  std::vector<std::string> command{};  ///< what follows `--`

 private:
  std::map<std::string, Value> values_;
  std::set<std::string> flags_;
};

/// Splits a comma list; an empty element is kept, for the caller to refuse.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);

}  // namespace redlock::cli
