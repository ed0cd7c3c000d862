#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

/// The given options, by name without dashes, each with its origin. The command line, the
/// environment and the configuration file all end up here; reading a value checks it, and a
/// UsageError names the origin.
class Arguments {
 public:
  /// From the strongest to the weakest.
  enum class Layer { command_line, environment, verb_table, top_level };

  struct Value {
    std::string text;    ///< of a flag "true" or "false"
    std::string origin;  ///< "--ttl", "ttl in 'FILE', line 3" or the variable
    Layer layer = Layer::command_line;
    std::size_t line = 0;  ///< in the file
  };

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  void set_flag(const std::string& name, bool raised, const std::string& origin) {
    flags_[name] = {raised ? "true" : "false", origin};
  }
  void set_flag(const std::string& name, Value value) { flags_[name] = std::move(value); }

  [[nodiscard]] bool flag(const std::string& name) const;
  [[nodiscard]] const Value* find(const std::string& name) const;
  /// As `find`, of a flag too, and of the nodes with an empty text.
  [[nodiscard]] const Value* find_any(const std::string& name) const;
  /// Whether the option is on the command line. Only there an option that cannot apply is an error;
  /// a default is ignored.
  [[nodiscard]] bool asked_for(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> duration(const std::string& name) const;
  /// As `duration`; zero is refused.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> positive_duration(
      const std::string& name) const;
  /// In its range, see number_ranges.hpp.
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name) const;
  /// In a range that only the caller knows.
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name, std::uint64_t least,
                                                    std::uint64_t most) const;
  /// A comma list of numbers, at least one.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> numbers(const std::string& name) const;
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> numbers(const std::string& name,
                                                                  std::uint64_t least,
                                                                  std::uint64_t most) const;

  /// Takes over what is not set here.
  void fill_from(const Arguments& other);
  void forget(const std::string& name);

  std::vector<std::string> nodes{};  ///< every --nodes, not yet split at commas
  Value nodes_origin{{}, "--nodes"};
  std::vector<std::string> words{};    ///< what is no option: the resource
  std::vector<std::string> command{};  ///< of run and elect
  bool has_dashes = false;             ///< whether `--` stood before the command

 private:
  std::map<std::string, Value> values_;
  std::map<std::string, Value> flags_;
};

/// Splits a comma list; an empty element is kept, for the caller to refuse.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);

}  // namespace redlock::cli
